import { context, trace } from '@opentelemetry/api';
import { AlwaysOffSampler, ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { createA2AServer, silentLogger } from 'parley-a2a';
import { connect, traceIdOf } from 'parley-a2a/client';
import { clientTracing, serverTracing } from 'parley-a2a-otel';
import { expect, it, onTestFinished } from 'vitest';
import { OtlpReceiver } from './otlp-receiver.js';
import { exportSpans } from './span-export.js';

const CALLS = 40;

const sendParams = () => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text: 'hello' }] },
});

/** The spans that a real exporter has sent, the trace contexts of the turns, and the traces of the tasks. */
async function countSampled(sampler: ConstructorParameters<typeof ParentBasedSampler>[0]['root']) {
  await using receiver = await OtlpReceiver.start();
  const provider = exportSpans('sampled', receiver.url, { sampler: new ParentBasedSampler({ root: sampler }) });
  const passed: (string | undefined)[] = [];
  const noted: (string | undefined)[] = [];
  const agent = {
    execute: async (
      { traceparent }: { readonly traceparent?: string | undefined },
      events: { complete(): Promise<void> },
    ) => {
      passed.push(traceparent);
      await events.complete();
    },
  };
  const server = createA2AServer({ name: 'Sampled', agent, tracing: serverTracing(), logger: silentLogger });
  const { url } = await server.listen(0);
  const client = await connect(url, { interceptors: [clientTracing()] });
  onTestFinished(() => {
    context.disable();
    trace.disable();
  });
  for (let call = 0; call < CALLS; call += 1) {
    const { task } = await client.sendMessage(sendParams());
    noted.push(task && traceIdOf(task));
  }
  await client.close();
  await server.close();
  await provider.shutdown();
  return { spans: [...receiver.spans], passed, noted };
}

it('a sampler that drops all leaves no span and no trace in a task, and passes that on', async () => {
  const { spans, passed, noted } = await countSampled(new AlwaysOffSampler());
  expect(spans).toEqual([]);
  expect(noted).toEqual(Array.from({ length: CALLS }, () => undefined));
  expect(passed).toHaveLength(CALLS);
  expect(new Set(passed).size).toBe(CALLS);
  for (const traceparent of passed) expect(traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
});

it('a sampler by ratio takes whole traces', async () => {
  const { spans, passed } = await countSampled(new TraceIdRatioBasedSampler(0.5));
  const traces = Map.groupBy(spans, ({ traceId }) => traceId);
  expect(traces.size).toBeGreaterThan(0);
  expect(traces.size).toBeLessThan(CALLS);
  expect(passed.filter((traceparent) => traceparent?.endsWith('-01'))).toHaveLength(traces.size);
  for (const found of traces.values())
    expect(found.map(({ kind }) => kind).toSorted()).toEqual(['CLIENT', 'INTERNAL', 'SERVER']);
});

it('an SDK that is registered after the server and the client gets their spans', async () => {
  await using receiver = await OtlpReceiver.start();
  const agent = { execute: async (_: unknown, events: { complete(): Promise<void> }) => events.complete() };
  const server = createA2AServer({ name: 'Early', agent, tracing: serverTracing(), logger: silentLogger });
  const { url } = await server.listen(0);
  const client = await connect(url, { interceptors: [clientTracing()] });
  const before = await client.sendMessage(sendParams());
  const provider = exportSpans('late', receiver.url);
  onTestFinished(() => {
    context.disable();
    trace.disable();
  });
  const after = await client.sendMessage(sendParams());
  await client.close();
  await server.close();
  await provider.shutdown();
  const kinds = [...receiver.spans].map(({ kind }) => kind).toSorted();
  expect(kinds).toEqual(['CLIENT', 'INTERNAL', 'SERVER']);
  const [earlier, later] = [before.task, after.task].map((task) => task && traceIdOf(task));
  expect([earlier, later]).toEqual([undefined, [...receiver.spans][0]?.traceId]);
});
