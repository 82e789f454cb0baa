import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type AgentExecutor, createA2AServer, silentLogger } from 'parley-a2a';
import { agentCalls } from 'parley-a2a/agent-calls';
import { connect, traceIdOf } from 'parley-a2a/client';
import { OptionsError } from 'parley-a2a/kit';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { addTraceIds, clientTracing, serverTracing } from './index.js';

const exporter = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
beforeEach(() => exporter.reset());
afterAll(() => {
  context.disable();
  trace.disable();
  metrics.disable();
});

const SECRET = 'pl4nted-s3cret-words';
const agent: AgentExecutor = {
  async execute({ text }, events) {
    // Like the instrumentation of a model.
    trace.getTracer('model').startSpan('chat model').end();
    if (text.startsWith('fail')) throw new TypeError(SECRET);
    for (let chunk = 0; chunk < 3; chunk += 1) await events.artifact(SECRET, { artifactId: `a${chunk}` });
    await events.complete();
  },
};

async function serveAgent() {
  const server = createA2AServer({
    name: 'Traced',
    version: '2.1.0',
    agent,
    tracing: serverTracing(),
    logger: silentLogger,
  });
  const { url } = await server.listen(0);
  const client = await connect(url, { interceptors: [clientTracing()] });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  exporter.reset();
  return { url, client };
}

function spans() {
  return exporter.getFinishedSpans();
}

async function spanNamed(name: string, kind: SpanKind) {
  return vi.waitFor(() => {
    const found = spans().find((span) => span.name === name && span.kind === kind);
    if (found === undefined) throw new Error(`There is no ${name} among ${spans().map((span) => span.name)}`);
    return found;
  }, 30_000);
}

const message = (text: string) => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }] });

it('a call, its turn and the call of a model share a trace', async () => {
  const { client } = await serveAgent();
  const { messageId, ...rest } = message(`hello ${SECRET}`);
  const answer = await client.sendMessage({ message: { messageId, ...rest } });
  const { id, contextId } = 'task' in answer && answer.task !== undefined ? answer.task : expect.unreachable();
  const outgoing = await spanNamed('SendMessage', SpanKind.CLIENT);
  const incoming = await spanNamed('SendMessage', SpanKind.SERVER);
  const turn = await spanNamed('invoke_agent Traced', SpanKind.INTERNAL);
  const model = await spanNamed('chat model', SpanKind.INTERNAL);
  expect(incoming.parentSpanContext?.spanId).toBe(outgoing.spanContext().spanId);
  expect(turn.parentSpanContext?.spanId).toBe(incoming.spanContext().spanId);
  expect(model.parentSpanContext?.spanId).toBe(turn.spanContext().spanId);
  expect(incoming.attributes).toEqual({
    'a2a.method.name': 'SendMessage',
    'a2a.protocol.version': '1.0',
    'a2a.message.id': messageId,
    'a2a.task.id': id,
    'a2a.task.state': 'TASK_STATE_COMPLETED',
    'gen_ai.conversation.id': contextId,
    'gen_ai.agent.name': 'Traced',
    'gen_ai.agent.version': '2.1.0',
  });
  expect(turn.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'a2a.task.id': id,
    'a2a.task.state': 'TASK_STATE_COMPLETED',
  });
  expect(JSON.stringify(spans().map(({ attributes, events, status }) => [attributes, events, status]))).not.toContain(
    SECRET,
  );
});

it('a turn without a waiting caller starts a new trace, with a link to the call', async () => {
  const { client } = await serveAgent();
  await client.sendMessage({ message: message('hello'), configuration: { returnImmediately: true } });
  const incoming = await spanNamed('SendMessage', SpanKind.SERVER);
  const turn = await spanNamed('invoke_agent Traced', SpanKind.INTERNAL);
  expect(turn.parentSpanContext).toBeUndefined();
  expect(turn.links.map((link) => link.context.spanId)).toEqual([incoming.spanContext().spanId]);
});

it('a new task has the trace of its call before its first event', async () => {
  const silent = Promise.withResolvers<void>();
  const server = createA2AServer({
    agent: { execute: () => silent.promise },
    tracing: serverTracing(),
    logger: silentLogger,
  });
  const { url } = await server.listen(0);
  const client = await connect(url, { interceptors: [clientTracing()] });
  onTestFinished(async () => {
    silent.resolve();
    await client.close();
    await server.close();
  });
  const configuration = { returnImmediately: true };
  const { task } = await client.sendMessage({ message: message('hello'), configuration });
  const call = await spanNamed('SendMessage', SpanKind.SERVER);
  expect(task && traceIdOf(task)).toBe(call.spanContext().traceId);
});

it('a call to another agent is a child of its turn', async () => {
  const callee = createA2AServer({ name: 'Callee', agent, tracing: serverTracing(), logger: silentLogger });
  const { url: calleeUrl } = await callee.listen(0);
  const caller = createA2AServer({
    name: 'Caller',
    agent: {
      async execute(turn, events) {
        await turn.callAgent(calleeUrl, 'hello');
        await events.complete();
      },
    },
    calls: agentCalls({ allow: ['127.0.0.1'] }),
    tracing: serverTracing(),
    logger: silentLogger,
  });
  const { url } = await caller.listen(0);
  const client = await connect(url);
  onTestFinished(async () => {
    await client.close();
    await caller.close();
    await callee.close();
  });
  await client.sendMessage({ message: message('hello') });
  const calling = await spanNamed('invoke_agent Caller', SpanKind.INTERNAL);
  const called = await spanNamed('invoke_agent Callee', SpanKind.INTERNAL);
  expect(called.spanContext().traceId).toBe(calling.spanContext().traceId);
  const outgoing = await vi.waitFor(() => {
    const found = spans().find(({ kind }) => kind === SpanKind.CLIENT);
    return found ?? expect.unreachable();
  }, 30_000);
  expect(outgoing.parentSpanContext?.spanId).toBe(calling.spanContext().spanId);
});

it('a stream is one span, with the number of its events', async () => {
  const { client } = await serveAgent();
  const events: unknown[] = [];
  for await (const event of client.sendStreamingMessage({ message: message('hello') })) events.push(event);
  const incoming = await spanNamed('SendStreamingMessage', SpanKind.SERVER);
  const outgoing = await spanNamed('SendStreamingMessage', SpanKind.CLIENT);
  expect(events.length).toBeGreaterThan(3);
  for (const { attributes } of [incoming, outgoing])
    expect(attributes).toMatchObject({
      'parley.stream.events': events.length,
      'a2a.task.state': 'TASK_STATE_COMPLETED',
    });
});

it('the early return of a stream ends its span', async () => {
  const { client } = await serveAgent();
  for await (const _ of client.sendStreamingMessage({ message: message('hello') })) break;
  await spanNamed('SendStreamingMessage', SpanKind.CLIENT);
  await spanNamed('SendStreamingMessage', SpanKind.SERVER);
});

it('errors of calls and agents end their spans, without the text of the error', async () => {
  const { client } = await serveAgent();
  await expect(client.getTask({ id: 'unknown' })).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
    const span = await spanNamed('GetTask', kind);
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span.attributes).toMatchObject({ 'error.type': '-32001', 'a2a.task.id': 'unknown' });
  }
  await client.sendMessage({ message: message('fail') });
  const turn = await spanNamed('invoke_agent Traced', SpanKind.INTERNAL);
  expect([turn.status, turn.attributes['error.type']]).toEqual([{ code: SpanStatusCode.ERROR }, 'TypeError']);
  expect(JSON.stringify(turn.events)).not.toContain(SECRET);
});

it('the span of an HTTP instrumentation gets the attributes, and no second span is made', async () => {
  const { url } = await serveAgent();
  const incoming = trace.getTracer('http').startSpan('POST', { kind: SpanKind.SERVER });
  const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'unknown' } };
  const server = createA2AServer({ name: 'Traced', agent, tracing: serverTracing(), logger: silentLogger });
  await context.with(trace.setSpan(context.active(), incoming), () =>
    server.fetch(
      new Request(`${url}/a2a/jsonrpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify(body),
      }),
    ),
  );
  expect(incoming.isRecording()).toBe(true);
  incoming.end();
  const servers = spans().filter(({ kind }) => kind === SpanKind.SERVER);
  expect(servers.map(({ name, attributes }) => [name, attributes['a2a.method.name']])).toEqual([
    ['GetTask', 'GetTask'],
  ]);
});

it.each([true, false])(
  'the turn of a call that was not sampled has no span (returnImmediately: %s)',
  async (returnImmediately) => {
    const { url } = await serveAgent();
    const client = await connect(url);
    onTestFinished(() => client.close());
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
    const request = { message: message('hello'), configuration: { returnImmediately } };
    const { task } = await client.sendMessage(request, { traceparent });
    await client.waitFor(task?.id ?? '', { traceparent });
    expect(spans()).toEqual([]);
  },
);

it('a call that was not sampled has no span of a lost attempt', () => {
  const cause = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` };
  const attempt = { agent: '/', taskId: 't', contextId: 'c', messageId: 'm', attempt: 1, since: 1, fate: 'run' };
  const tracing = serverTracing().turnPorts?.tracing ?? expect.unreachable();
  expect(tracing.lost({ ...attempt, cause, trace: undefined })).toBeUndefined();
  expect(spans()).toEqual([]);
  const sampled = { traceparent: cause.traceparent.replace(/0$/, '1') };
  expect(tracing.lost({ ...attempt, cause: sampled, trace: undefined })).toBeDefined();
  expect(spans()).toHaveLength(1);
});

it('metrics contain the durations of calls and turns, without ids', async () => {
  const { client } = await serveAgent();
  await client.sendMessage({ message: message('hello') });
  await spanNamed('invoke_agent Traced', SpanKind.INTERNAL);
  measured.reset();
  await reader.forceFlush();
  const found = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const findMetric = (name: string) => found.find(({ descriptor }) => descriptor.name === name);
  for (const name of [
    'a2a.client.operation.duration',
    'a2a.server.operation.duration',
    'a2a.server.task.duration',
    'a2a.server.response.time_to_first_event',
    'a2a.server.queue.wait',
  ])
    expect(findMetric(name)?.dataPoints.length, name).toBeGreaterThan(0);
  const inProgress = findMetric('a2a.server.task.in_progress')?.dataPoints ?? [];
  expect(inProgress.filter(({ attributes }) => attributes.agent === '/').map(({ value }) => value)).toEqual([0]);
  const labels = found.flatMap(({ dataPoints }) => dataPoints.flatMap(({ attributes }) => Object.keys(attributes)));
  expect(labels).not.toContain('a2a.task.id');
});

it('the span of a turn contains the time that its message waited for another turn', async () => {
  const gate = Promise.withResolvers<void>();
  const server = createA2AServer({
    agent: {
      async execute({ text }, events) {
        if (text !== 'ask') return events.complete();
        await gate.promise;
        await events.inputRequired('and?');
      },
    },
    tracing: serverTracing(),
    logger: silentLogger,
  });
  onTestFinished(() => server.close());
  const client = await connect(server);
  const configuration = { returnImmediately: true };
  const { task } = await client.sendMessage({ message: message('ask'), configuration });
  const next = { ...message('next'), taskId: task?.id ?? '' };
  await client.sendMessage({ message: next, configuration });
  const accepted = Date.now();
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(accepted + 20), 30_000);
  gate.resolve();
  const turnOf = ({ messageId }: { readonly messageId: string }) =>
    spans().find(({ kind, attributes }) => kind === SpanKind.INTERNAL && attributes['a2a.message.id'] === messageId);
  await vi.waitFor(() => expect(turnOf(next)).toBeDefined(), 30_000);
  expect(turnOf(next)?.attributes['parley.turn.queue_wait']).toBeGreaterThanOrEqual(0.02);
});

it('log lines contain the ids of the active span', () => {
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  const logger = addTraceIds({ debug: write, info: write, warn: write, error: write });
  const span = trace.getTracer('test').startSpan('span');
  context.with(trace.setSpan(context.active(), span), () => logger.info('within', { taskId: 't' }));
  logger.info('outside');
  const { traceId, spanId } = span.spanContext();
  expect(lines).toEqual([
    ['within', { taskId: 't', trace_id: traceId, span_id: spanId }],
    ['outside', undefined],
  ]);
});

it('refuses unknown options', () => {
  expect(() => serverTracing({ bagage: [] } as object)).toThrow(OptionsError);
  expect(() => serverTracing({ content: { redact: String, maxLenght: 1 } } as object)).toThrow(OptionsError);
  expect(() => clientTracing({ bagage: [] } as object)).toThrow(OptionsError);
});
