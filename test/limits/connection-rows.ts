import { expect } from 'vitest';
import type { LimitName } from '../../packages/parley/src/telemetry/reached-limit.js';
import { grpc } from '../grpc/grpc-world.js';
import { answerOf, rawCall, rawSession } from '../grpc/raw-http2.js';
import { get, post, RawConnection } from '../support/raw-connection.js';
import { call, files, lastAnswer, message, type Row, rawHttp, rawRefusal } from './limit-world.js';

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

/** Limits that several kinds of connections have. */
export const FURTHER_CONNECTIONS: readonly (Row & { readonly limit: LimitName })[] = [
  {
    limit: 'requestMs',
    server: { ...files({}), http: { headersMs: 100, requestMs: 200 } },
    code: 408,
    endsConnection: true,
    reach: (world) => rawRefusal(world, CHUNKED),
  },
  {
    limit: 'stallMs',
    server: { http: { stallMs: 200 } },
    code: 'closed',
    endsConnection: true,
    reach: async (world) => {
      const { result } = await call(world, 'SendMessage', { message: message('long') });
      const connection = await rawHttp(world, '');
      connection.socket.pause();
      // More than the buffers of the system take.
      connection.socket.write(rpcText('GetTask', { id: result?.task?.id }).repeat(20));
      await expect.poll(world.figures, { timeout: 30_000 }).toContain('limit="stallMs"');
      connection.socket.resume();
      await connection.untilEnd();
      return { code: 'closed' };
    },
  },
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
