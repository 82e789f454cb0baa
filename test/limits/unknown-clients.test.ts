import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { capnwebBinding } from '../../packages/capnweb/src/index.js';
import { NodeExchangeRequest } from '../../packages/parley/src/adapters/node/node-exchange-request.js';
import { type A2AServerOptions, type AuditRecord, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server whose agent works until the test ends. */
async function working(options: Partial<A2AServerOptions> = {}) {
  const ended = Promise.withResolvers<void>();
  const records: AuditRecord[] = [];
  const server = createA2AServer({
    agent: {
      execute: async (_context, events) => {
        await events.working();
        await ended.promise;
      },
    },
    trustProxy: ['loopback'],
    concurrency: { streamsPerCaller: 2, streams: 100, turnsPerCaller: 100, turns: 200 },
    audit: { write: async (record: AuditRecord) => void records.push(record) },
    logRequests: false,
    ...options,
  } as A2AServerOptions);
  closers.push(async () => {
    ended.resolve();
    await server.close({ graceMs: 0 });
  });
  const { url } = await server.listen(0);
  const port = Number(new URL(url).port);
  /** The head of the answer to a stream. The connection stays open. */
  const stream = async (lines: readonly string[]) => {
    const connection = await RawConnection.open(port, requestOf('SendStreamingMessage', lines));
    closers.push(() => connection[Symbol.dispose]());
    const head = await connection.until(/\r\n\r\n/);
    return head.includes('text/event-stream') ? 'open' : (await connection.until(/"metadata"/)) && 'refused';
  };
  return { port, stream, records };
}

function requestOf(method: string, lines: readonly string[]): string {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } });
  const head = ['POST /a2a/jsonrpc HTTP/1.1', 'host: localhost', 'a2a-version: 1.0', 'content-type: application/json'];
  return `${[...head, ...lines, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

const REAL = 'X-Forwarded-For: 203.0.113.9';

/** Header lines of a trusted proxy that do not name a client. */
const UNTOLD: readonly (readonly [string, readonly string[]])[] = [
  ['unknown', ['Forwarded: for=unknown']],
  ['an obfuscated name', ['Forwarded: for=_hidden']],
  ['a name of a host', ['Forwarded: for=client.example']],
  ['an empty header', ['Forwarded:']],
  ['an empty list', ['X-Forwarded-For: ,']],
  ['no client in the element', ['Forwarded: proto=https;host=a.example']],
  ['an IPv6 address without brackets and quotes', ['Forwarded: for=[::1']],
  ['a loopback address of IPv4', ['Forwarded: for=127.0.0.1']],
  ['a loopback address of IPv6', ['Forwarded: for="[::1]"']],
  ['a loopback address with a port and a zone', ['Forwarded: for="[::1%lo]:80"']],
  ['a mapped loopback address', ['X-Forwarded-For: ::ffff:127.0.0.1']],
  ['a port without an address', ['Forwarded: for=":8080"']],
  ['two clients in one element', ['Forwarded: for=203.0.113.9;for=203.0.113.8']],
  ['a made-up Forwarded beside the header of the proxy', [REAL, 'Forwarded: for=unknown']],
  ['another client in Forwarded', [REAL, 'Forwarded: for=203.0.113.8']],
  ['loopback in Forwarded beside the header of the proxy', [REAL, 'Forwarded: for=127.0.0.1']],
  ['a hop that cannot be read after proxies', ['X-Forwarded-For: 203.0.113.9, garbage, 127.0.0.1']],
  ['more hops than a chain of proxies has', [`X-Forwarded-For: 203.0.113.9${', 127.0.0.1'.repeat(40)}`]],
  ['only the host and the scheme', ['X-Forwarded-Host: a.example', 'X-Forwarded-Proto: https']],
  ['nothing', []],
];

describe('a client behind a trusted proxy that is told by', () => {
  it.each(UNTOLD)('%s has the limits of one caller', async (_, lines) => {
    const { stream } = await working();
    expect([await stream(lines), await stream(lines), await stream(lines)]).toEqual(['open', 'open', 'refused']);
    // Others have their own.
    expect(await stream(['X-Forwarded-For: 198.51.100.1'])).toBe('open');
  });

  it('anything unreadable shares one limit with all others like it', async () => {
    const { stream } = await working();
    expect(await stream(['Forwarded: for=unknown'])).toBe('open');
    expect(await stream(['X-Forwarded-For: _one'])).toBe('open');
    expect(await stream(['Forwarded: for=_two'])).toBe('refused');
    expect(await stream([REAL, 'Forwarded: for=_three'])).toBe('refused');
    expect(await stream([REAL])).toBe('open');
  });

  it('anything unreadable shares one rate, and spends that of no other client', async () => {
    const { port } = await working({ rateLimit: { perAddress: { requests: 3, windowMs: 60_000 } } });
    const statusOf = async (...lines: readonly string[]) => {
      using connection = await RawConnection.open(
        port,
        ['GET / HTTP/1.1', 'host: localhost', ...lines, 'connection: close\r\n\r\n'].join('\r\n'),
      );
      return Number((await connection.untilEnd()).split(' ')[1]);
    };
    const forged = ['unknown', '_a', '_b', '"[::1"', 'x y', ''];
    const statuses = [];
    for (const one of forged) statuses.push(await statusOf(`Forwarded: for=${one}`));
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
    expect(await statusOf(REAL, 'Forwarded: for=_c')).toBe(429);
    expect(await statusOf(REAL)).toBe(200);
    // The proxy itself, such as its probes.
    expect(await statusOf()).toBe(200);
  });

  it('anything unreadable has no address in the audit log', async () => {
    const { stream, records } = await working();
    await stream(['Forwarded: for=unknown']);
    await stream(['Forwarded: for=unknown']);
    await stream(['Forwarded: for=unknown']);
    expect(records.at(-1)).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(records.at(-1)?.address).toBeUndefined();
  });

  it("anything unreadable has the places of one address for sessions of Cap'n Web", async () => {
    const { port } = await working({ bindings: [capnwebBinding({ limits: { connectionsPerAddress: 1 } })] });
    const upgrade = [
      'GET /a2a/capnweb HTTP/1.1',
      'host: localhost',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Forwarded: for=unknown',
    ];
    const first = await RawConnection.open(port, `${upgrade.join('\r\n')}\r\n\r\n`);
    closers.push(() => first[Symbol.dispose]());
    expect(await first.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 101 /);
    using second = await RawConnection.open(port, `${upgrade.join('\r\n')}\r\n\r\n`);
    expect(await second.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 429 /);
  });
});

it('a client that leaves at once keeps its address, and so its limits', async () => {
  const peers: unknown[] = [];
  const server = createServer((incoming, response) => {
    const request = new NodeExchangeRequest({ incoming, response, expectsContinue: false });
    incoming.socket.destroy();
    peers.push(request.peer);
  });
  closers.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  using connection = await RawConnection.open(port, requestOf('SendMessage', []));
  await connection.untilEnd();
  expect(peers).toEqual(['127.0.0.1']);
});

describe('the endpoints of a base server that change the cache', () => {
  const post = async (port: number, lines: readonly string[]) => {
    const head = ['POST /cache/warmup HTTP/1.1', ...lines, 'content-length: 0', 'connection: close\r\n\r\n'];
    using connection = await RawConnection.open(port, head.join('\r\n'));
    return Number((await connection.untilEnd()).split(' ')[1]);
  };
  const servePort = async (options: Partial<A2AServerOptions>) => {
    const { port } = await working({ baseServer: { cacheChanges: true }, ...options });
    return port;
  };

  it('take programs of this machine, and no client behind a proxy that tells nothing of it', async () => {
    const port = await servePort({ trustProxy: [], publicHosts: ['agents.example.com'] });
    expect(await post(port, ['host: localhost'])).toBe(200);
    expect(await post(port, ['host: agents.example.com'])).toBe(403);
    for (const header of ['X-Forwarded-Proto: https', 'X-Forwarded-Prefix: /a', 'Forwarded: for=127.0.0.1'])
      expect([header, await post(port, ['host: localhost', header])]).toEqual([header, 403]);
  });

  it('take no request of a trusted proxy', async () => {
    const port = await servePort({ trustProxy: ['loopback'] });
    expect(await post(port, ['host: localhost'])).toBe(403);
  });
});
