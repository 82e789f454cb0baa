import { expect, it } from 'vitest';
import { get, post } from '../../packages/parley/test/raw-connection.js';
import { files, message, rawHttp, serveWorld, type World } from './limit-world.js';

/** The start of a request whose body has an unknown length. */
const CHUNKED =
  'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
const SLOW = { headersMs: 100, requestMs: 200 };
const UPGRADE =
  'GET /a2a/capnweb HTTP/1.1\r\nconnection: close, upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n';

/** Bytes that get an answer without an exchange, or before one has its own. */
interface Refused {
  readonly name: string;
  readonly bytes: string;
  readonly status: number;
  readonly server?: object;
  /** Ends the side of the client after its bytes. */
  readonly isCutOff?: true;
  /** Statuses that the same bytes bring, beside the refusal. */
  readonly alsoCounted?: readonly number[];
}

const REFUSED: readonly Refused[] = [
  { name: 'a head that is too slow', bytes: 'GET / HTTP/1.1\r\n', status: 408, server: { http: SLOW } },
  { name: 'a body that is too slow', bytes: CHUNKED, status: 408, server: { http: SLOW } },
  { name: 'the same beside uploads', bytes: CHUNKED, status: 408, server: { ...files({}), http: SLOW } },
  { name: 'a head that is too large', bytes: get('/', `x: ${'x'.repeat(17_000)}\r\n`), status: 431 },
  { name: 'a head of too many lines', bytes: get('/', 'x: y\r\n'.repeat(1_001)), status: 431 },
  { name: 'a chunk extension that is too large', bytes: `${CHUNKED}1;${'x'.repeat(17_000)}\r\n`, status: 413 },
  { name: 'bytes that are no HTTP', bytes: 'nonsense\r\n\r\n', status: 400 },
  { name: 'a body that is no HTTP', bytes: `${CHUNKED}nonsense\r\n`, status: 400 },
  { name: 'a body that is cut off', bytes: `${CHUNKED}5\r\n{`, status: 400, isCutOff: true },
  {
    name: 'bytes after a request that are no HTTP',
    bytes: `${get('/')}nonsense\r\n\r\n`,
    status: 400,
    alsoCounted: [200],
  },
  { name: 'a request without a host', bytes: 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', status: 400 },
  { name: 'an upgrade without a host', bytes: `${UPGRADE}\r\n`, status: 400 },
  {
    name: 'an upgrade that is no WebSocket',
    bytes: `${UPGRADE}host: localhost\r\nsec-websocket-key: short\r\n\r\n`,
    status: 426,
  },
  {
    name: 'an upgrade with a broken subprotocol',
    bytes: `${UPGRADE}host: localhost\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\nsec-websocket-protocol: ,\r\n\r\n`,
    status: 400,
    alsoCounted: [101],
  },
  { name: 'a request for a proxy', bytes: 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n', status: 501 },
  {
    name: 'a request for a foreign host',
    bytes: 'GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n',
    status: 421,
    // A trusted proxy may name any host.
    server: { trustProxy: [] },
  },
];

/** The counts of requests and of errors. */
async function countedRequests({ figures }: World): Promise<readonly string[]> {
  return (await figures()).split('\n').filter((line) => /^a2a_server_(requests|errors)_total/.test(line));
}

const request = (code: number) =>
  `a2a_server_requests_total{operation="none",binding="none",version="none",code="${code}"} 1`;
const error = (code: number) => `a2a_server_errors_total{kind="http",code="${code}",reason="none"} 1`;

it.each(REFUSED)(
  '$name is one request and one error',
  async ({ bytes, status, server, isCutOff, alsoCounted = [] }) => {
    const world = await serveWorld({ server: { ...server, logRequests: true } });
    const connection = await rawHttp(world, bytes);
    if (isCutOff) connection.socket.end();
    expect(await connection.untilEnd()).toContain(`HTTP/1.1 ${status} `);
    const expected = [...[...alsoCounted, status].map(request), error(status)];
    await expect.poll(() => countedRequests(world)).toEqual(expected);
    // The exchange of a broken body ends a moment after its answer.
    const told = world.logger.lines
      .filter(({ message: text }) => text === 'request')
      .map(({ fields }) => fields?.status);
    expect([status, ...alsoCounted]).toEqual(expect.arrayContaining(told));
  },
);

it('a connection that says nothing reaches a limit, and is no request', async () => {
  const world = await serveWorld({ server: { http: SLOW } });
  expect(await (await rawHttp(world, '')).untilEnd()).toBe('');
  await expect.poll(() => world.figures()).toContain('a2a_server_limits_reached_total{limit="headersMs"} 1');
  expect(await countedRequests(world)).toEqual([]);
});

it('a request that waits on a silent connection of a server that was held up is served', async () => {
  const world = await serveWorld({ server: { http: SLOW } });
  const last = get('/healthz', 'connection: close\r\n');
  const silent = await rawHttp(world, '');
  // The server has accepted a later connection, so that it has this one too.
  await (await rawHttp(world, last)).untilEnd();
  silent.socket.write(last);
  // As after a pause of the process: the time of the connection is over, and nothing was read.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 * SLOW.headersMs);
  expect(await silent.untilEnd()).toContain('HTTP/1.1 200 ');
});

it('a request too many on a connection is one request and one error', async () => {
  const world = await serveWorld({});
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const params = { message: message('hold') };
  const held = post('/', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params }), headers);
  await rawHttp(world, held + get('/healthz').repeat(66));
  await expect.poll(() => countedRequests(world)).toEqual(expect.arrayContaining([request(429), error(429)]));
});

it('refused requests have no duration, and no failure of the server', async () => {
  const world = await serveWorld({});
  await (await rawHttp(world, 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n')).untilEnd();
  const figures = await (await fetch(`${world.url}/metrics`)).json();
  expect(figures).toMatchObject({ server: { requests: 1, errors: 0 }, errors: { http: { 501: 1 } } });
  expect(await world.figures()).not.toContain('a2a_server_operation_duration_seconds_count');
});
