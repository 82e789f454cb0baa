import { expect } from 'vitest';
import type { LimitName } from '../../packages/parley/src/telemetry/reached-limit.js';
import { get, post, RawConnection } from '../../packages/parley/test/raw-connection.js';
import { grpc } from '../grpc/grpc-world.js';
import { answerOf, rawCall, rawSession } from '../grpc/raw-http2.js';
import { call, files, lastAnswer, message, type Row, rawHttp, rawRefusal, type World } from './limit-world.js';

/** The text of a call of JSON-RPC. */
function rpcText(method: string, params: object): string {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  return post('/', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers);
}

/** A request without its body, and an upload without its end. */
const CHUNKED =
  'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
const UPLOAD = 'POST /a2a/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\nhello';
/** Limits of connections and of bytes that arrive. */
export const CONNECTIONS = {
  headBytes: {
    code: 431,
    endsConnection: true,
    reach: (world) => rawRefusal(world, get('/', `x: ${'x'.repeat(17_000)}\r\n`)),
  },
  chunkExtensionBytes: {
    code: 413,
    endsConnection: true,
    reach: (world) => rawRefusal(world, `${CHUNKED}1;${'x'.repeat(17_000)}\r\n`),
  },
  headersMs: {
    server: { http: { headersMs: 100 } },
    code: 408,
    endsConnection: true,
    reach: (world) => rawRefusal(world, 'GET / HTTP/1.1\r\n'),
  },
  requestMs: {
    server: { http: { headersMs: 100, requestMs: 200 } },
    code: 408,
    endsConnection: true,
    reach: (world) => rawRefusal(world, CHUNKED),
  },
  pipelined: {
    code: 429,
    endsConnection: true,
    reach: async (world) => {
      const first = rpcText('SendMessage', { message: message('hold') });
      const connection = await rawHttp(world, first + get('/healthz').repeat(66));
      await expect.poll(world.figures).toContain('limit="pipelined"');
      // The answers come in the order of the requests, and the first one is that of the task.
      const { result } = await call(world, 'ListTasks', {});
      await call(world, 'CancelTask', { id: result?.tasks?.[0]?.id });
      return lastAnswer(connection);
    },
  },
  idleMs: { server: files({ idleMs: 100 }), code: 408, reach: (world) => rawRefusal(world, UPLOAD) },
  uploadMs: { server: files({ uploadMs: 100 }), code: 408, reach: (world) => rawRefusal(world, UPLOAD) },
} satisfies { readonly [Name in LimitName]?: Row };

/** Sends requests whose answers are more than the buffers of the system take. */
type Asking = (world: World, connection: RawConnection) => Promise<unknown>;

const forTasks: Asking = async (world, { socket }) => {
  const { result } = await call(world, 'SendMessage', { message: message('long') });
  socket.write(rpcText('GetTask', { id: result?.task?.id }).repeat(20));
};

const forStream: Asking = async (_, { socket }) =>
  socket.write(rpcText('SendStreamingMessage', { message: message('endless') }));

/** A peer that reads none of its answers. */
function stalledReader(ask: Asking): Pick<Row, 'code' | 'endsConnection' | 'reach'> {
  return {
    code: 'closed',
    endsConnection: true,
    reach: async (world) => {
      const connection = await rawHttp(world, '');
      connection.socket.pause();
      await ask(world, connection);
      await expect.poll(world.figures, { timeout: 30_000 }).toMatch(/limit="stallMs"\} 1\n/);
      connection.socket.resume();
      await connection.untilEnd();
      return { code: 'closed' };
    },
  };
}

/** The same peer at a server that mounts the agent. */
function stalledMount(on: NonNullable<Row['mount']>['on'], ask: Asking): Row & { readonly limit: 'stallMs' } {
  return { limit: 'stallMs', mount: { on, stallMs: 500 }, ...stalledReader(ask) };
}

/** Limits that several kinds of connections have. */
export const FURTHER_CONNECTIONS: readonly (Row & { readonly limit: LimitName })[] = [
  {
    limit: 'requestMs',
    server: { ...files({}), http: { headersMs: 100, requestMs: 200 } },
    code: 408,
    endsConnection: true,
    reach: (world) => rawRefusal(world, CHUNKED),
  },
  { limit: 'stallMs', server: { http: { stallMs: 500 } }, ...stalledReader(forTasks) },
  { limit: 'stallMs', server: { http: { stallMs: 500 } }, ...stalledReader(forStream) },
  // Hosts with `Request` and `Response` write whole answers themselves.
  ...(['Express', 'Fastify'] as const).map((on) => stalledMount(on, forTasks)),
  ...(['Express', 'Fastify', 'Hono', 'a web handler'] as const).map((on) => stalledMount(on, forStream)),
  {
    limit: 'headersMs',
    grpc: { headersMs: 100 },
    code: 'closed',
    endsConnection: true,
    reach: async ({ port }) => {
      using connection = await RawConnection.open(port);
      await connection.untilEnd();
      return { code: 'closed' };
    },
  },
  {
    limit: 'requestMs',
    grpc: { requestMs: 100 },
    code: grpc.status.DEADLINE_EXCEEDED,
    endsConnection: true,
    reach: async ({ port }) => {
      const { status = 0 } = await answerOf(rawCall(rawSession(port), [], { open: true }));
      return { code: status };
    },
  },
];
