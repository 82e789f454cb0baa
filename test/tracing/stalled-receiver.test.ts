import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { createA2AServer, silentLogger } from 'parley-a2a';
import { connect } from 'parley-a2a/client';
import { clientTracing, serverTracing } from 'parley-a2a-otel';
import { expect, it, onTestFinished } from 'vitest';
import { exportSpans } from './span-export.js';

const CALLS = 200;
const QUEUE = 32;

it('a receiver that hangs delays no call, and spans beyond the queue of the SDK are dropped', async () => {
  const released = Promise.withResolvers<void>();
  let sizes = 0;
  const receiver = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as {
      readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly object[] }[] }[];
    };
    sizes += resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)).length;
    await released.promise;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: 60_000 });
  const options = { exporter, maxQueueSize: QUEUE, maxExportBatchSize: QUEUE, exportTimeoutMillis: 60_000 };
  const provider = exportSpans('stalled', url, { spanProcessors: [new BatchSpanProcessor(options)] });
  const server = createA2AServer({ agent: () => 'done', tracing: serverTracing(), logger: silentLogger });
  const client = await connect((await server.listen(0)).url, { interceptors: [clientTracing()] });
  onTestFinished(async () => {
    await client.close();
    await server.close();
    receiver.closeAllConnections();
    receiver.close();
    context.disable();
    trace.disable();
  });
  let answered = 0;
  for (let call = 0; call < CALLS; call += 1) {
    const { task } = await client.sendMessage('hello');
    if (task?.status.state === 'TASK_STATE_COMPLETED') answered += 1;
  }
  // All of them while the first export still waits for its answer.
  expect(answered).toBe(CALLS);
  expect(sizes).toBeLessThanOrEqual(QUEUE);
  released.resolve();
  await provider.shutdown();
  expect(sizes).toBeGreaterThan(0);
  // One batch was under way, and one queue was full. Three spans of each call were made.
  expect(sizes).toBeLessThanOrEqual(3 * QUEUE);
});
