import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { type A2AServerOptions, createA2AServer, silentLogger } from 'parley-a2a';
import { connect } from 'parley-a2a/client';
import type { AuditRecord } from 'parley-a2a/server';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { CAPNWEB_BINDING, capnwebBinding, capnwebTransport } from 'parley-a2a-capnweb';
import { grpcBinding, grpcTransport } from 'parley-a2a-grpc';
import { mcpEndpointOf, mcpServerOf, mcpTools } from 'parley-a2a-mcp';
import { clientTracing, serverTracing } from 'parley-a2a-otel';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MemorySpans } from './memory-spans.js';

const spans = new MemorySpans();
const SECRET = 'pl4nted-s3cret-words';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

async function serveAgent(options: Partial<A2AServerOptions>) {
  const server = createA2AServer({
    name: 'Traced',
    agent: () => 'done',
    tracing: serverTracing(),
    logger: silentLogger,
    ...options,
  } as A2AServerOptions);
  const { url } = await server.listen(0);
  onTestFinished(() => server.close());
  return { server, url };
}

const sendParams = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }] },
});

const BINDINGS = {
  'JSON-RPC': { prefer: ['JSONRPC'] },
  'HTTP+JSON': { prefer: ['HTTP+JSON'] },
  gRPC: { prefer: ['GRPC'], bindings: [grpcTransport()] },
  "Cap'n Web": { prefer: [CAPNWEB_BINDING], bindings: [capnwebTransport()] },
} as const;

it.each(Object.keys(BINDINGS) as (keyof typeof BINDINGS)[])(
  '%s passes the trace, its state and allowed baggage on',
  async (binding) => {
    const inner: unknown[] = [];
    const agent = () => {
      const baggage = propagation.getActiveBaggage()?.getAllEntries() ?? [];
      inner.push(
        trace.getActiveSpan()?.spanContext().traceState?.serialize(),
        baggage.map(([key, { value }]) => [key, value]),
      );
      return 'done';
    };
    const tracing = serverTracing({ baggage: ['tenant'] });
    const { url } = await serveAgent({
      agent,
      tracing,
      bindings: [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()],
    });
    const interceptors = [clientTracing({ baggage: ['tenant', 'other'] })];
    const client = await connect(url, { ...BINDINGS[binding], interceptors });
    onTestFinished(() => client.close());
    expect(client.agentInterface.protocolBinding).toBe(BINDINGS[binding].prefer[0]);
    const entries = { tenant: { value: 'a b,c' }, other: { value: 'kept here' }, secret: { value: SECRET } };
    const within = propagation.setBaggage(context.active(), propagation.createBaggage(entries));
    const options = { headers: { traceparent: TRACEPARENT, tracestate: 'vendor=1', baggage: `secret=${SECRET}` } };
    await context.with(within, () => client.sendMessage(sendParams('hello'), options));
    const [turn] = await spans.waitForSpans('invoke_agent Traced');
    expect(turn?.spanContext().traceId).toBe(TRACE);
    expect(inner).toEqual(['vendor=1', [['tenant', 'a b,c']]]);
  },
);

it('an answer has the id of its trace, unless the caller has named the request', async () => {
  const records: AuditRecord[] = [];
  const audit = { write: (record: AuditRecord) => void records.push(record) };
  const { url } = await serveAgent({ audit, logRequests: true });
  const get = async (headers: Record<string, string> = {}) =>
    (await fetch(`${url}/a2a/rest/tasks/unknown`, { headers: { 'a2a-version': '1.0', ...headers } })).headers.get(
      'x-request-id',
    );
  const id = await get();
  const [call] = await spans.waitForSpans('GetTask');
  expect(id).toBe(call?.spanContext().traceId);
  expect(await get({ traceparent: TRACEPARENT })).toBe(TRACE);
  expect(await get({ traceparent: TRACEPARENT, 'x-request-id': 'mine' })).toBe('mine');
  expect(records.map(({ traceId, requestId }) => [traceId, requestId])).toEqual([
    [id, id],
    [TRACE, TRACE],
    [TRACE, 'mine'],
  ]);
});

it('a task tells the trace of its last attempt', async () => {
  const { url } = await serveAgent({});
  const client = await connect(url);
  onTestFinished(() => client.close());
  const { task } = await client.sendMessage(sendParams('hello'));
  const [turn] = await spans.waitForSpans('invoke_agent Traced');
  const { traceId = '', spanId = '' } = turn?.spanContext() ?? {};
  const { metadata } = await client.getTask(task?.id ?? '');
  expect(metadata?.['urn:parley-a2a:trace:v1']).toMatchObject({
    traceparent: `00-${traceId}-${spanId}-01`,
    turn: 1,
    attempt: 1,
  });
});

const input = jsonSchema({ type: 'string' });

it('a tool is a span, also one that fails, without words of its call', async () => {
  const tools = new ToolRegistry([
    defineTool({ name: 'works', input, run: () => SECRET }),
    defineTool({
      name: 'fails',
      input,
      run: () => {
        throw new Error(SECRET);
      },
    }),
  ]);
  const agent = toolAgent(tools, async (run, { events }) => {
    await run.call('works', SECRET);
    await run.call('fails', SECRET).catch(() => {});
    await events.complete(SECRET);
  });
  const { url } = await serveAgent({ agent });
  const client = await connect(url);
  onTestFinished(() => client.close());
  await client.sendMessage(sendParams(SECRET));
  const [turn] = await spans.waitForSpans('invoke_agent Traced');
  const [works, fails] = [
    ...(await spans.waitForSpans('execute_tool works')),
    ...(await spans.waitForSpans('execute_tool fails')),
  ];
  for (const span of [works, fails]) expect(span?.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
  expect(works?.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'works',
    'gen_ai.tool.type': 'function',
  });
  expect(works?.attributes['gen_ai.tool.call.id']).toEqual(expect.any(String));
  expect([fails?.status.code, fails?.attributes['error.type']]).toEqual([SpanStatusCode.ERROR, 'threw']);
  expect(JSON.stringify(spans.all.map(({ attributes, events, status }) => [attributes, events, status]))).not.toContain(
    SECRET,
  );
});

it('content is recorded by an option alone: redacted, then cut', async () => {
  const redact = (text: string) => (text.includes('nothing') ? undefined : text.replaceAll(SECRET, '***'));
  const tracing = serverTracing({ content: { redact, maxLength: 12 } });
  const tools = new ToolRegistry([defineTool({ name: 'works', input, run: () => `${SECRET} and more than twelve` })]);
  const agent = toolAgent(tools, async (run, { events }) => {
    await run.call('works', 'nothing');
    await events.artifact(`one ${SECRET}`);
    await events.complete('two');
  });
  const { url } = await serveAgent({ agent, tracing });
  const client = await connect(url);
  onTestFinished(() => client.close());
  await client.sendMessage(sendParams(`hello ${SECRET}`));
  const [turn] = await spans.waitForSpans('invoke_agent Traced');
  const [tool] = await spans.waitForSpans('execute_tool works');
  expect(turn?.attributes).toMatchObject({
    'gen_ai.input.messages': 'hello ***',
    'gen_ai.output.messages': 'one ***\ntwo',
  });
  expect(tool?.attributes['gen_ai.tool.call.arguments']).toBeUndefined();
  expect(tool?.attributes['gen_ai.tool.call.result']).toBe('"*** and mor');
});

it('over MCP, a tool of an agent goes on with the trace of its caller', async () => {
  const { url } = await serveAgent({});
  const agent = await connect(url, { interceptors: [clientTracing()] });
  const server = mcpServerOf(agent);
  const client = new McpClient({ name: 'test', version: '1' });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  onTestFinished(async () => {
    await client.close();
    await agent.close();
  });
  const [tool] = (await client.listTools()).tools;
  const _meta = { traceparent: TRACEPARENT, tracestate: 'vendor=1', baggage: `secret=${SECRET}` };
  await client.callTool({ name: tool?.name ?? '', arguments: { message: 'hello' }, _meta });
  const [turn] = await spans.waitForSpans('invoke_agent Traced');
  expect(turn?.spanContext().traceId).toBe(TRACE);
});

it('an agent that calls a tool of another agent over MCP is in one trace with it', async () => {
  const inner = await serveAgent({ name: 'Inner' });
  const inside = await connect(inner.url, { interceptors: [clientTracing()] });
  const endpoint = mcpEndpointOf(inside);
  const handle = (place: string | URL, init?: RequestInit) => endpoint.handle(new Request(place, init));
  const tools = await mcpTools({ name: 'inner', url: 'http://localhost/mcp', fetch: handle });
  onTestFinished(async () => {
    await tools.close();
    await endpoint.close();
    await inside.close();
  });
  const agent = toolAgent(new ToolRegistry(tools.tools), async (run, { events }) => {
    await run.call(tools.tools[0]?.name ?? '', { message: 'hello' });
    await events.complete();
  });
  const { url } = await serveAgent({ name: 'Outer', agent });
  const client = await connect(url);
  onTestFinished(() => client.close());
  await client.sendMessage(sendParams('hello'));
  const [called] = await spans.waitForSpans('invoke_agent Inner');
  const [outer] = await spans.waitForSpans('invoke_agent Outer');
  const [tool] = await spans.waitForSpans(`execute_tool ${tools.tools[0]?.name}`);
  expect(called?.spanContext().traceId).toBe(outer?.spanContext().traceId);
  const calls = spans.all.filter(({ kind, name }) => kind === SpanKind.CLIENT && name === 'SendStreamingMessage');
  expect(calls.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toContain(tool?.spanContext().spanId);
});

it('a turn that does not end with its server is ended as an error', async () => {
  const started = Promise.withResolvers<void>();
  const execute = () => {
    started.resolve();
    return new Promise<void>(() => {});
  };
  const { server, url } = await serveAgent({ agent: { execute } });
  const client = await connect(url);
  await client.sendMessage({ ...sendParams('hello'), configuration: { returnImmediately: true } });
  await started.promise;
  await server.close({ graceMs: 0 });
  await client.close();
  const [turn] = await spans.waitForSpans('invoke_agent Traced');
  expect([turn?.status.code, turn?.attributes['error.type']]).toEqual([SpanStatusCode.ERROR, 'server_closed']);
  const calls = () => spans.all.filter(({ name }) => name === 'SendMessage');
  await vi.waitFor(() => expect(calls()).toHaveLength(1), 30_000);
});
