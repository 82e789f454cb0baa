// Our server with and without spans: the first argument is the workload, the second one of TRACING_SUBJECTS.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AlwaysOffSampler, AlwaysOnSampler, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createA2AServer } from 'parley-a2a/node';
import { serverTracing } from 'parley-a2a-otel';
import { HandMadeSpans } from '../tracing/hand-made-spans.js';
import { WORKLOADS } from '../workloads.js';
import { AGENTS } from './parley-agents.js';
import { ready, workloadArgument } from './subject-host.js';

const subject = process.argv[3];
if (subject === 'dropped' || subject === 'recorded' || subject === 'by hand') {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = { export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }) };
  const idle = async () => {};
  const processor = new SimpleSpanProcessor({ exporter: { ...exporter, forceFlush: idle, shutdown: idle } });
  const sampler = subject === 'dropped' ? new AlwaysOffSampler() : new AlwaysOnSampler();
  trace.setGlobalTracerProvider(new TracerProvider({ sampler, spanProcessors: [processor] }));
}
const tracing = subject === 'by hand' ? new HandMadeSpans(trace.getTracer('by hand')) : serverTracing();
const agent = AGENTS[WORKLOADS[workloadArgument()].kind];
const server = createA2AServer({ agent, ...(subject !== 'none' && { tracing }) });
const { url } = await server.listen(0);
ready(Number(new URL(url).port));
