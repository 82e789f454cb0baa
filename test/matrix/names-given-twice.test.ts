import { newWebSocketRpcSession, RpcTarget } from 'capnweb';
import { afterEach, describe, expect, it } from 'vitest';
import { capnwebBinding } from '../../packages/capnweb/src/index.js';
import { grpcBinding } from '../../packages/grpc/src/index.js';
import { fileTransfer, memoryFileStore } from '../../packages/parley/src/exports/files.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { answerOf, callHeaders, frame, rawCall, rawSession, sendMessageBytes } from '../grpc/raw-http2.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An answer: `ok`, or the code of its error with the fields at fault. */
type Outcome = string;

/** A server with every binding, and what it has logged as an error. */
async function serveAgent(options: Partial<A2AServerOptions> = {}) {
  const errors: unknown[] = [];
  const ignore = () => {};
  const server = createA2AServer({
    agent: (prompt: string) => prompt,
    versions: ['1.0', '0.3', '0.2.5'],
    baseServer: {},
    files: fileTransfer({ store: memoryFileStore() }),
    bindings: [capnwebBinding({ listed: 'public' }), grpcBinding({ port: 0 })],
    logger: { debug: ignore, info: ignore, warn: ignore, error: (...line: unknown[]) => void errors.push(line) },
    logRequests: false,
    ...options,
  } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const port = Number(new URL(url).port);
  const { url: grpc = '' } = server.interfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC') ?? {};
  return { server, url, port, grpcPort: Number(grpc.split(':').at(-1)), errors };
}

type World = Awaited<ReturnType<typeof serveAgent>>;

/** Sends a request with these lines of headers as they are. */
async function send({ port }: World, target: string, lines: readonly string[] = [], body?: unknown): Promise<Outcome> {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const json = body === undefined ? [] : ['content-type: application/json', `content-length: ${text.length}`];
  const head = [`${target} HTTP/1.1`, 'host: localhost', 'connection: close', ...json, ...lines];
  using connection = await RawConnection.open(port, `${head.join('\r\n')}\r\n\r\n${text}`);
  const [, ...rest] = (await connection.untilEnd()).split('\r\n\r\n');
  return outcomeIn(rest.join('\r\n\r\n'));
}

/** Every binding names reason and fields somewhere in the details. */
function outcomeIn(text: string): Outcome {
  const [, reason] = /"reason":\s*"(\w+)"/.exec(text) ?? [];
  // Base servers and callbacks have the text only.
  const [, named] = /Invalid parameters: (\S+)/.exec(text) ?? [];
  if (reason === undefined) return named === undefined ? 'ok' : `INVALID_PARAMS ${named}`;
  const fields = [...text.matchAll(/"field":\s*"([^"]*)"/g)].map(([, field]) => field);
  return [reason, ...fields].join(' ');
}

const V1 = ['a2a-version: 1.0'];
const OLD = ['a2a-version: 0.3'];
const REST = '/a2a/rest';
const message = (more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'hi' }],
  ...more,
});
const oldMessage = (more: object = {}) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text: 'hi' }],
  ...more,
});
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const BOTH = { contextId: 'c', context_id: 'c' };

/** Calls a session, with the error of the call as its outcome. */
async function inSession({ url }: World, call: (entrance: Stub) => Promise<unknown>): Promise<Outcome> {
  const entrance = newWebSocketRpcSession(`${url.replace('http', 'ws')}/a2a/capnweb`) as unknown as Stub;
  try {
    await call(entrance);
    return 'ok';
  } catch (error) {
    const { reason, details } = error as { reason?: string; details?: unknown };
    return outcomeIn(JSON.stringify({ reason: reason ?? 'NONE', details }));
  } finally {
    entrance[Symbol.dispose]();
  }
}

interface Stub extends Disposable {
  // The methods of a session, whatever their types are.
  readonly [method: string]: (...given: readonly unknown[]) => Promise<unknown> & Stub;
}

const hello = (parameters: object = { 'A2A-Version': '1.0' }, more: object = {}) => ({ parameters, ...more });

async function grpcCall({ grpcPort }: World, headers: Readonly<Record<string, unknown>>): Promise<Outcome> {
  const sent = callHeaders('SendMessage', headers as never);
  const { status, message: text } = await answerOf(
    rawCall(rawSession(grpcPort), [frame(sendMessageBytes('a'))], { headers: sent }),
  );
  // The number of INVALID_ARGUMENT. The text names the field.
  return status === 0
    ? 'ok'
    : `${status === 3 ? 'INVALID_PARAMS' : status} ${/(\S+) is given twice/.exec(decodeURIComponent(text))?.[1]}`;
}

/** Every place of a parameter, and how the refusal names it. */
const REFUSED: readonly (readonly [string, (world: World) => Promise<Outcome>, string])[] = [
  // HTTP+JSON 1.0
  ['tenant in a query', (w) => send(w, `GET ${REST}/tasks?tenant=a&tenant=b`, V1), 'tenant'],
  ['the same tenant in a query', (w) => send(w, `GET ${REST}/tasks?tenant=a&tenant=a`, V1), 'tenant'],
  ['tenant in a query, once encoded', (w) => send(w, `GET ${REST}/tasks?tenant=a&%74enant=b`, V1), 'tenant'],
  ['an empty tenant first', (w) => send(w, `GET ${REST}/tasks?tenant=&tenant=b`, V1), 'tenant'],
  [
    'tenant in the query of a POST',
    (w) => send(w, `POST ${REST}/message:send?tenant=a&tenant=b`, V1, { message: message() }),
    'tenant',
  ],
  ['tenant in path and query', (w) => send(w, `GET ${REST}/a/tasks?tenant=b`, V1), 'tenant'],
  [
    'tenant in path and body',
    (w) => send(w, `POST ${REST}/a/message:send`, V1, { tenant: 'b', message: message() }),
    'tenant',
  ],
  [
    'tenant in query and body',
    (w) => send(w, `POST ${REST}/message:send?tenant=a`, V1, { tenant: 'b', message: message() }),
    'tenant',
  ],
  ['tenant in the query of a cancel', (w) => send(w, `POST ${REST}/tasks/t:cancel?tenant=a&tenant=b`, V1), 'tenant'],
  ['a member in a query', (w) => send(w, `GET ${REST}/tasks?pageSize=1&pageSize=2`, V1), 'pageSize'],
  [
    'a member in two spellings in a query',
    (w) => send(w, `GET ${REST}/tasks?contextId=a&context_id=b`, V1),
    'context_id',
  ],
  [
    'an alias of a member in a query',
    (w) =>
      send(w, `GET ${REST}/tasks?statusTimestampAfter=2026-01-01T00:00:00Z&lastUpdatedAfter=2026-01-01T00:00:00Z`, V1),
    'lastUpdatedAfter',
  ],
  ['an unknown name in a query', (w) => send(w, `GET ${REST}/tasks?x=1&x=2`, V1), 'x'],
  ['the version in two headers', (w) => send(w, `GET ${REST}/tasks`, [...V1, ...OLD]), 'A2A-Version'],
  ['the same version in two headers', (w) => send(w, `GET ${REST}/tasks`, [...V1, ...V1]), 'A2A-Version'],
  ['an empty version and another one', (w) => send(w, `GET ${REST}/tasks`, ['a2a-version:', ...V1]), 'A2A-Version'],
  ['two versions in one header', (w) => send(w, `GET ${REST}/tasks`, ['a2a-version: 1.0, 1.0']), 'A2A-Version'],
  ['the version in a query', (w) => send(w, `GET ${REST}/tasks?A2A-Version=1.0&a2a-version=0.3`), 'A2A-Version'],
  [
    'the version in a query, once encoded',
    (w) => send(w, `GET ${REST}/tasks?a2a%2dversion=0.3&A2A-Version=1.0`),
    'A2A-Version',
  ],
  ['the version in header and query', (w) => send(w, `GET ${REST}/tasks?A2A-Version=0.3`, V1), 'A2A-Version'],
  [
    'a member in two spellings in a body',
    (w) => send(w, `POST ${REST}/message:send`, V1, { message: message(BOTH) }),
    'message.context_id',
  ],
  [
    'Last-Event-ID',
    (w) =>
      send(w, `POST ${REST}/message:stream`, [...V1, 'last-event-id: 1', 'last-event-id: 2'], { message: message() }),
    'Last-Event-ID',
  ],
  // JSON-RPC 1.0
  [
    'JSON-RPC: the version in two headers',
    (w) => send(w, 'POST /a2a/jsonrpc', [...V1, ...OLD], rpc('ListTasks', {})),
    'A2A-Version',
  ],
  [
    'JSON-RPC: the version in a query',
    (w) => send(w, 'POST /a2a/jsonrpc?a2a-version=1.0&A2A-Version=1.0', [], rpc('ListTasks', {})),
    'A2A-Version',
  ],
  [
    'JSON-RPC: a member in two spellings',
    (w) => send(w, 'POST /a2a/jsonrpc', V1, rpc('ListTasks', BOTH)),
    'context_id',
  ],
  [
    'JSON-RPC: a null beside the member',
    (w) => send(w, 'POST /a2a/jsonrpc', V1, rpc('ListTasks', { contextId: null, context_id: 'c' })),
    'context_id',
  ],
  [
    'JSON-RPC: a member in a list in two spellings',
    (w) =>
      send(
        w,
        'POST /a2a/jsonrpc',
        V1,
        rpc('SendMessage', { message: message({ parts: [{ text: 'a', mediaType: 'a/b', media_type: 'a/b' }] }) }),
      ),
    'message.parts[0].media_type',
  ],
  [
    'JSON-RPC: Last-Event-ID',
    (w) =>
      send(
        w,
        'POST /a2a/jsonrpc',
        [...V1, 'last-event-id: 1', 'last-event-id: 1'],
        rpc('SendStreamingMessage', { message: message() }),
      ),
    'Last-Event-ID',
  ],
  [
    'JSON-RPC: Last-Event-ID of a call without a stream',
    (w) => send(w, 'POST /a2a/jsonrpc', [...V1, 'last-event-id: 1,2'], rpc('ListTasks', {})),
    'Last-Event-ID',
  ],
  // 0.3 and 0.2.5
  [
    '0.3: a member in a query',
    (w) => send(w, `GET ${REST}/v1/tasks/t?historyLength=1&historyLength=2`, OLD),
    'historyLength',
  ],
  [
    '0.3: a member in two spellings in a query',
    (w) => send(w, `GET ${REST}/v1/tasks/t?historyLength=1&history_length=1`, OLD),
    'history_length',
  ],
  ['0.3: tenant in a query', (w) => send(w, `GET ${REST}/v1/tasks/t?tenant=a&tenant=b`, OLD), 'tenant'],
  ['0.3: the version in two headers', (w) => send(w, `GET ${REST}/v1/tasks/t`, [...OLD, ...OLD]), 'A2A-Version'],
  [
    '0.3: a member in two spellings in a body',
    (w) =>
      send(w, `POST ${REST}/v1/message:send`, OLD, {
        request: { ...message(BOTH), parts: undefined, content: [{ text: 'hi' }] },
      }),
    'message.contextId',
  ],
  [
    '0.3: the message under two names',
    (w) => send(w, `POST ${REST}/v1/message:send`, OLD, { request: oldMessage(), message: oldMessage() }),
    'message',
  ],
  [
    '0.3 JSON-RPC: a member in two spellings',
    (w) => send(w, 'POST /a2a/jsonrpc', OLD, rpc('message/send', { message: oldMessage(BOTH) })),
    'message.contextId',
  ],
  [
    '0.3 JSON-RPC: the parts under two names',
    (w) =>
      send(
        w,
        'POST /a2a/jsonrpc',
        OLD,
        rpc('message/send', { message: oldMessage({ content: [{ kind: 'text', text: 'b' }] }) }),
      ),
    'message.parts[0] message.parts[1]',
  ],
  [
    '0.2.5: a member in two spellings',
    (w) => send(w, 'POST /communicate', [], rpc('message/send', { message: oldMessage(BOTH) })),
    'message.contextId',
  ],
  [
    '0.2.5: an id in two spellings',
    (w) =>
      send(
        w,
        'POST /delegate',
        [],
        rpc('tasks/pushNotificationConfig/get', {
          id: 't',
          pushNotificationConfigId: 'a',
          push_notification_config_id: 'b',
        }),
      ),
    'pushNotificationConfigId',
  ],
  // gRPC
  ['gRPC: the version in two metadata', (w) => grpcCall(w, { 'a2a-version': ['1.0', '0.3'] }), 'A2A-Version'],
  ['gRPC: the same version in two metadata', (w) => grpcCall(w, { 'a2a-version': ['1.0', '1.0'] }), 'A2A-Version'],
  // Cap'n Web
  [
    "Cap'n Web: a parameter in two spellings",
    (w) => inSession(w, (e) => e.authenticate?.(hello({ 'A2A-Version': '1.0', 'a2a-version': '0.3' })) as never),
    'a2a-version',
  ],
  [
    "Cap'n Web: two versions in one parameter",
    (w) => inSession(w, (e) => e.authenticate?.(hello({ 'A2A-Version': '1.0, 1.0' })) as never),
    'A2A-Version',
  ],
  [
    "Cap'n Web: a parameter of a call",
    (w) =>
      inSession(
        w,
        (e) => e.authenticate?.(hello()).listTasks?.({}, { parameters: { 'X-A': '1', 'x-a': '1' } }) as never,
      ),
    'x-a',
  ],
  [
    "Cap'n Web: another tenant than that of the session",
    (w) =>
      inSession(w, (e) => e.authenticate?.(hello(undefined, { tenant: 'a' })).listTasks?.({ tenant: 'b' }) as never),
    'tenant',
  ],
  [
    "Cap'n Web: a member in two spellings",
    (w) => inSession(w, (e) => e.authenticate?.(hello()).listTasks?.(BOTH) as never),
    'context_id',
  ],
  [
    'plain arguments: a member in two spellings',
    (w) => inSession(w, (e) => e.sendMessage?.(oldMessage(BOTH)) as never),
    'message.contextId',
  ],
  [
    'plain arguments: a credential as token and as key',
    (w) => inSession(w, (e) => e.authenticate?.({ type: 'bearer', token: 'a', apiKey: 'b' }) as never),
    'token',
  ],
  // Files and callbacks
  [
    'files: tenant in a query',
    (w) => send(w, 'POST /a2a/files?tenant=a&tenant=b', ['content-type: text/plain', 'content-length: 0']),
    'tenant',
  ],
  [
    'files: tenant in the query of a download',
    (w) => send(w, `GET /a2a/files/${'0'.repeat(32)}?tenant=&tenant=b`),
    'tenant',
  ],
  ['a callback: its state', (w) => send(w, 'GET /a2a/authorizations?state=a&state=b&code=c'), 'state'],
];

describe('a name that a request gives twice is refused', () => {
  it.each(REFUSED)('%s', async (_, call, field) => {
    const world = await serveAgent();
    expect(await call(world)).toBe(`INVALID_PARAMS ${field}`);
    expect(world.errors).toEqual([]);
  });
});

describe('a name that may come twice is taken', () => {
  it.each<readonly [string, (world: World) => Promise<Outcome>]>([
    [
      'the same tenant in path, query and body',
      (w) => send(w, `POST ${REST}/a/message:send?tenant=a`, V1, { tenant: 'a', message: message() }),
    ],
    ['the same tenant in path and query', (w) => send(w, `GET ${REST}/a/tasks?tenant=a`, V1)],
    ['the same version in header and query', (w) => send(w, `GET ${REST}/tasks?A2A-Version=1.0`, V1)],
    [
      'A2A-Extensions, which is a list',
      (w) =>
        send(w, `GET ${REST}/tasks`, [
          ...V1,
          'a2a-extensions: urn:a',
          'a2a-extensions: urn:a, urn:b',
          'x-a2a-extensions: urn:a',
        ]),
    ],
    ['the extensions in the metadata of gRPC', (w) => grpcCall(w, { 'a2a-extensions': ['urn:a', 'urn:b'] })],
    [
      'the same tenant as that of the session',
      (w) =>
        inSession(w, (e) => e.authenticate?.(hello(undefined, { tenant: 'a' })).listTasks?.({ tenant: 'a' }) as never),
    ],
    [
      'a parameter of a call that replaces that of the session',
      (w) =>
        inSession(
          w,
          (e) =>
            e
              .authenticate?.(hello({ 'A2A-Version': '1.0', 'x-a': '1' }))
              .listTasks?.({}, { parameters: { 'X-A': '2' } }) as never,
        ),
    ],
    [
      'names in a free object',
      (w) => send(w, 'POST /a2a/jsonrpc', V1, rpc('SendMessage', { message: message({ metadata: BOTH }) })),
    ],
  ])('%s', async (_, call) => {
    expect(await call(await serveAgent())).toBe('ok');
  });
});

describe("a refusal over Cap'n Web's plain arguments keeps its code, and writes no line of an error", () => {
  const callback = () => new (class extends RpcTarget {})();
  it.each<readonly [string, (entrance: Stub) => Promise<unknown> | undefined, string]>([
    ['a list with a wrong limit', (e) => e.listTasks?.({ limit: -1 }), 'INVALID_PARAMS limit'],
    ['a list with a wrong context', (e) => e.listTasks?.({ contextId: 7 }), 'INVALID_PARAMS contextId'],
    [
      'a list with a context that is too long',
      (e) => e.listTasks?.({ contextId: 'x'.repeat(5_000) }),
      'INVALID_PARAMS contextId',
    ],
    ['a list with wrong states', (e) => e.listTasks?.({ filter: { states: ['odd'] } }), 'INVALID_PARAMS filter.states'],
    ['a message that is none', (e) => e.sendMessage?.('hi'), 'INVALID_PARAMS message'],
    ['a message for a missing task', (e) => e.sendMessage?.(oldMessage({ taskId: 'missing' })), 'TASK_NOT_FOUND'],
    [
      'a stream for a missing task',
      (e) => e.sendMessageStreaming?.(oldMessage({ taskId: 'missing' })),
      'TASK_NOT_FOUND',
    ],
    [
      'a stream with a wrong callback',
      (e) => e.sendMessageStreaming?.(oldMessage(), undefined, 7),
      'INVALID_PARAMS callback',
    ],
    [
      'a stream with a callback without methods',
      (e) => e.sendMessageStreaming?.(oldMessage({ taskId: 'missing' }), undefined, callback()),
      'TASK_NOT_FOUND',
    ],
    ['a missing task', (e) => e.getTask?.('missing'), 'TASK_NOT_FOUND'],
    ['a cancel of a missing task', (e) => e.cancelTask?.('missing'), 'TASK_NOT_FOUND'],
    ['a credential of no type', (e) => e.authenticate?.({ type: 'odd' }), 'INVALID_PARAMS type'],
    ['no such method', (e) => e.odd?.(), 'METHOD_NOT_FOUND'],
  ])('%s', async (_, call, outcome) => {
    const world = await serveAgent();
    expect(await inSession(world, (entrance) => call(entrance) as never)).toBe(outcome);
    expect(world.errors).toEqual([]);
  });

  it('also if the agent does not stream, and if the caller may do one call only', async () => {
    const world = await serveAgent({ bindings: [capnwebBinding({ limits: { runningCalls: 1 } })] });
    expect(await inSession(world, (entrance) => entrance.listTasks?.({}) as never)).toBe('ok');
    expect(world.errors).toEqual([]);
  });
});
