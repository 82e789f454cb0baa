// A server with or without spans that calls itself, without a socket. Arguments: a workload, and one of SUBJECTS. With
// a number it makes that many calls and ends, for programs that count its instructions.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AlwaysOffSampler, AlwaysOnSampler, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createA2AServer, silentLogger } from 'parley-a2a';
import { serverTracing } from 'parley-a2a-otel';
import { HandMadeSpans } from './hand-made-spans.js';
import { TRACED_AGENTS } from './traced-agents.js';

const URL_OF_CALLS = 'http://127.0.0.1/a2a/jsonrpc';
const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

const [, , workload = '', subject = '', calls] = process.argv;
if (!['none', 'off'].includes(subject)) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const idle = async () => {};
  const exporter = { export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }) };
  const processor = new SimpleSpanProcessor({ exporter: { ...exporter, forceFlush: idle, shutdown: idle } });
  const sampler = subject.startsWith('dropped') ? new AlwaysOffSampler() : new AlwaysOnSampler();
  trace.setGlobalTracerProvider(new TracerProvider({ sampler, spanProcessors: [processor] }));
}
const agent = TRACED_AGENTS[workload];
if (agent === undefined) throw new TypeError(`${workload} is no workload`);
const tracing = /byHand/i.test(subject) ? new HandMadeSpans(trace.getTracer('by hand')) : serverTracing();
const server = createA2AServer({ agent, logger: silentLogger, ...(subject !== 'none' && { tracing }) });
const [method, end] =
  workload === 'stream'
    ? ['SendStreamingMessage', 'TASK_STATE_COMPLETED']
    : ['SendMessage', workload === 'task' ? 'TASK_STATE_COMPLETED' : 'ROLE_AGENT'];
let number = 0;

async function call(): Promise<void> {
  number += 1;
  const message = { messageId: `m${number}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: number, method, params: { message } });
  const answer = await server.fetch(new Request(URL_OF_CALLS, { method: 'POST', headers: HEADERS, body }));
  const text = await answer.text();
  if (!text.includes(end)) throw new Error(`A call failed: ${text.slice(0, 1_000)}`);
}

/** CPU time of a call, in µs. */
async function costOf(calls: number): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < calls; done += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

if (calls !== undefined) {
  await costOf(Number(calls));
  process.exit();
}
process.once('disconnect', () => process.exit());
process.on('message', async ({ calls }: { readonly calls: number }) => {
  process.send?.({ kind: 'cost', micros: await costOf(calls) });
});
process.send?.({ kind: 'ready' });
