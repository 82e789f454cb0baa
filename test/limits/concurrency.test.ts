import { afterEach, describe, expect, it, vi } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server whose agent works until the test releases it. Its clients come through a trusted proxy. */
async function working(options: Partial<A2AServerOptions> = {}) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createA2AServer({
    agent: {
      execute: async (_context, events) => {
        await events.working();
        await released;
        await events.complete();
      },
    },
    trustProxy: ['loopback'],
    concurrency: { streamsPerCaller: 2, streams: 4, turnsPerCaller: 3, turns: 5 },
    ...options,
  } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const post = (method: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] },
          configuration: { returnImmediately: true },
        },
      }),
      ...(signal && { signal }),
    });
  const figure = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`, { headers: { accept: 'text/plain;version=0.0.4' } })).text();
    return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  };
  return { url, post, figure, release };
}

const from = (address: string) => ({ 'x-forwarded-for': address });

describe('the open streams', () => {
  it('of one address are limited, and of another one not', async () => {
    const { post, figure } = await working();
    const open = () => post('SendStreamingMessage', from('192.0.2.1'));
    expect([(await open()).status, (await open()).status]).toEqual([200, 200]);
    const refused = await open();
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      error: {
        code: -32603,
        message: 'Too many streams: 2 of this caller are open. Close one of them first',
        data: [{ reason: 'RESOURCE_EXHAUSTED', metadata: { limit: 'streams' } }, { retryDelay: '5s' }],
      },
    });
    const other = await post('SendStreamingMessage', from('192.0.2.2'));
    expect(other.headers.get('content-type')).toBe('text/event-stream');
    expect(await figure('a2a_server_limits_reached_total\\{limit="streams"\\}')).toBe(1);
    expect(await figure('a2a_server_streams_open')).toBe(3);
  });

  it('of the /64 of an IPv6 address count together', async () => {
    const { post } = await working();
    for (const host of ['1', '2']) await post('SendStreamingMessage', from(`2001:db8::${host}`));
    const refused = await (await post('SendStreamingMessage', from('2001:db8::ffff:3'))).text();
    expect(refused).toContain('of this caller');
  });

  it('of all callers are limited', async () => {
    const { post } = await working();
    for (const host of [1, 2, 3, 4]) await post('SendStreamingMessage', from(`192.0.2.${host}`));
    expect(await (await post('SendStreamingMessage', from('192.0.2.5'))).text()).toContain('are open on this server');
  });

  it('of a user count for the user, whatever the address', async () => {
    const authenticator = new BearerTokens([
      { token: 'token-of-ada', subject: 'ada' },
      { token: 'token-of-bob', subject: 'bob' },
    ]);
    const { post } = await working({ authenticator });
    const open = async (token: string, address: string) => {
      const answer = await post('SendStreamingMessage', { authorization: `Bearer ${token}`, ...from(address) });
      return answer.headers.get('content-type');
    };
    expect(await open('token-of-ada', '192.0.2.1')).toBe('text/event-stream');
    expect(await open('token-of-ada', '192.0.2.2')).toBe('text/event-stream');
    expect(await open('token-of-ada', '192.0.2.3')).toBe('application/json');
    expect(await open('token-of-bob', '192.0.2.1')).toBe('text/event-stream');
  });

  it('are free again when a client goes away, even by a reset', async () => {
    const { url, post, figure } = await working({
      concurrency: { streamsPerCaller: 2, streams: 4, turnsPerCaller: 1_000, turns: 1_000 },
    });
    const port = Number(new URL(url).port);
    const body = Buffer.from(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendStreamingMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] } },
      }),
    );
    const bytes = `POST / HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 192.0.2.1\r\na2a-version: 1.0\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (let round = 0; round < 40; round++) {
      const connection = await RawConnection.open(port, bytes);
      // Every other client goes before its stream begins.
      if (round % 2 === 0) await connection.until(/data: /);
      if (round % 4 < 2) connection.socket.resetAndDestroy();
      else connection.socket.destroy();
      if (round % 8 === 7)
        await vi.waitFor(async () => expect(await figure('a2a_server_streams_open')).toBe(0), 15_000);
    }
    await vi.waitFor(async () => expect(await figure('a2a_server_streams_open')).toBe(0), 15_000);
    expect((await post('SendStreamingMessage', from('192.0.2.1'))).headers.get('content-type')).toBe(
      'text/event-stream',
    );
  });
});

describe('the running turns', () => {
  it('of one address are limited, over both bindings, and free again when they end', async () => {
    const { url, post, figure, release } = await working();
    const send = () => post('SendMessage', from('192.0.2.1'));
    for (let turn = 0; turn < 3; turn++) expect(await (await send()).json()).toHaveProperty('result');
    const refused = await send();
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toHaveProperty(
      'error.message',
      'Too many turns: 3 of this caller run. Wait until one of them ends',
    );
    const byRest = await fetch(`${url}/a2a/rest/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...from('192.0.2.1') },
      body: JSON.stringify({ message: { messageId: 'x', role: 'ROLE_USER', parts: [{ text: 'go' }] } }),
    });
    expect(byRest.status).toBe(429);
    expect(byRest.headers.get('retry-after')).toBe('1');
    expect(await byRest.json()).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
    const legacy = await post('message/send', { ...from('192.0.2.1'), 'a2a-version': '0.3' });
    expect(await legacy.json()).toHaveProperty('error.code');
    expect(await (await post('SendMessage', from('192.0.2.2'))).json()).toHaveProperty('result');
    release();
    await vi.waitFor(async () => expect(await (await send()).json()).toHaveProperty('result'), 15_000);
    expect(await figure('a2a_server_limits_reached_total\\{limit="turns"\\}')).toBeGreaterThanOrEqual(2);
  });

  it('of clients on this machine count in all only, unless they may be a trusted proxy', async () => {
    const proxied = await working();
    for (let turn = 0; turn < 3; turn++)
      expect(await (await proxied.post('SendMessage')).json()).toHaveProperty('result');
    expect(await (await proxied.post('SendMessage')).text()).toContain('Too many turns: 3 of this caller');
    const { post } = await working({ trustProxy: [] });
    for (let turn = 0; turn < 5; turn++) expect(await (await post('SendMessage')).json()).toHaveProperty('result');
    expect(await (await post('SendMessage')).text()).toContain('Too many turns: 5 run on this server');
  });
});
