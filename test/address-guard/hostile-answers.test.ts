import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { checkedPosts } from '../../packages/parley/src/adapters/node/checked-posts.js';
import { guardedFetch } from '../../packages/parley/src/exports/guarded-fetch.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { Destinations } from '../../packages/parley/src/net/destinations.js';
import { callWebhook } from '../../packages/parley/src/push/webhook-call.js';
import { EqualTimers } from '../../packages/parley/src/runtime/equal-timers.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';

/** Starts a peer that answers each request with bytes of a test, and repeats `again` without end. */
async function peerOf(answer: string, again = '') {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const more = () => {
      while (!socket.destroyed && socket.write(again));
      if (!socket.destroyed) socket.once('drain', more);
    };
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(answer);
      if (again !== '') more();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Resolves when the other side has closed every connection. */
    left: () => Promise.all([...sockets].map((socket) => socket.destroyed || waitForClose(socket))),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const waitForClose = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

const MEBIBYTE = 'x'.repeat(1024 * 1024);
const HOSTILE: Readonly<Record<string, readonly [answer: string, again?: string]>> = {
  'switches protocols': ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
  'sends interim answers without end': ['', `HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(8_000)}\r\n\r\n`],
  'sends a body after a status that has none': ['HTTP/1.1 205 Reset Content\r\n\r\n', MEBIBYTE],
  'sends one header without end': ['HTTP/1.1 200 OK\r\nx: ', MEBIBYTE],
  'sends a body without end': ['HTTP/1.1 200 OK\r\n\r\n', MEBIBYTE],
};
const newHold = () => ({ isLost: false, abort: undefined });
/** A time limit of the test in ms, longer than any call may take. */
const PATIENCE_MS = 10_000;

describe('a peer that', () => {
  it.each(Object.entries(HOSTILE))('%s holds no webhook call and no connection', async (_, [answer, again]) => {
    await using peer = await peerOf(answer, again);
    const send = checkedPosts(new Destinations({ allow: ['127.0.0.1'] }), { clock: systemClock });
    if (send === undefined) throw new Error('This host has no checked connections');
    const post = { url: peer.url, headers: {}, body: '{}' };
    const patience = new AbortController();
    const late = delay(PATIENCE_MS, 'late', { signal: patience.signal });
    const call = callWebhook(post, { send, timeouts: new EqualTimers(systemClock, 60_000), hold: newHold() });
    expect(await Promise.race([call, late])).toMatchObject({ kind: expect.stringMatching(/^(?:failure|answer)$/) });
    expect(await Promise.race([peer.left(), late])).not.toBe('late');
    patience.abort();
    await late.catch(() => {});
  });

  it.each(Object.entries(HOSTILE))('%s holds no fetch and no connection', async (_, [answer, again]) => {
    await using peer = await peerOf(answer, again);
    const request = guardedFetch({ allow: ['127.0.0.1'], ms: 60_000, bytes: 100_000 });
    const patience = new AbortController();
    const late = delay(PATIENCE_MS, 'late', { signal: patience.signal });
    const read = request(peer.url, {}).then(
      (response) => response.text().catch(String),
      (error: unknown) => String(error),
    );
    expect(await Promise.race([read, late])).not.toBe('late');
    expect(await Promise.race([peer.left(), late])).not.toBe('late');
    patience.abort();
    await late.catch(() => {});
  });
});

it('a sender that never settles holds no call beyond its time', async () => {
  const clock = new ManualClock();
  const send = () => ({ answer: new Promise<never>(() => {}), abort() {} });
  const post = { url: 'https://example.com/', headers: {}, body: '{}' };
  const call = callWebhook(post, { send, timeouts: new EqualTimers(clock, 1_000), hold: newHold() });
  await clock.advance(1_000);
  expect(await call).toEqual({ kind: 'failure', reason: 'timeout' });
});

describe('an answer that has arrived before its reader is stopped', () => {
  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'],
  ])('rejects the read, and raises no uncaught error: %s', async (_name, answer) => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    process.on('uncaughtException', note);
    try {
      await using peer = await peerOf(answer);
      const fetch = guardedFetch({ allow: ['127.0.0.1'], bytes: Infinity, ms: Infinity });
      const stop = new AbortController();
      const response = await fetch(peer.url, { method: 'POST', body: '', signal: stop.signal });
      const reader = response.body?.getReader();
      await reader?.read();
      stop.abort(new Error('stopped'));
      await expect(reader?.read()).rejects.toThrow('stopped');
      await peer.left();
    } finally {
      process.off('uncaughtException', note);
    }
    expect(uncaught).toEqual([]);
  });
});
