import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import { get, RawConnection } from '../../../test/raw-connection.js';
import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import { eventFrame, SseStream } from '../../bindings/http/sse-stream.js';
import type { StreamItem } from '../../task/stream-item.js';
import { silentLogger } from '../../telemetry/logger.js';
import { HttpServer } from './http-server.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Frames that come when they are given, and what became of them. */
class Source implements AsyncIterable<string>, AsyncIterator<string> {
  pulled = 0;
  returned = 0;
  readonly #frames: (string | undefined | Error)[] = [];
  #waiting: ((frame: string | undefined | Error) => void) | undefined;

  [Symbol.asyncIterator]() {
    return this;
  }

  give(...frames: (string | undefined | Error)[]): void {
    this.#frames.push(...frames);
    if (this.#waiting !== undefined && this.#frames.length > 0) this.#waiting(this.#frames.shift());
    this.#waiting = undefined;
  }

  async next(): Promise<IteratorResult<string>> {
    this.pulled++;
    const frame =
      this.#frames.length > 0
        ? this.#frames.shift()
        : await new Promise<string | undefined | Error>((resolve) => (this.#waiting = resolve));
    if (frame instanceof Error) throw frame;
    return frame === undefined ? { done: true, value: undefined } : { done: false, value: frame };
  }

  async return(): Promise<IteratorResult<string>> {
    this.returned++;
    return { done: true, value: undefined };
  }
}

function stream(body: AsyncIterable<string>, headers = '') {
  return serveExchange(async () => ({ status: 200, headers: { 'x-kind': 'stream' }, body }), get('/', headers));
}

/** A clock whose time stands still, in the event loop as it is. */
class LoopClock extends ManualClock {
  override soon(task: () => void): void {
    setImmediate(task);
  }
}

/** A server with a clock, and a connection to it that has sent these requests. */
async function serveExchange(exchange: Exchange, requests: string) {
  const clock = new LoopClock();
  const server = new HttpServer({ exchange, clock, logger: silentLogger, stallMs: 30_000 });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const connection = await RawConnection.open(port, requests);
  closers.push(async () => {
    connection[Symbol.dispose]();
    const closed = server.close(0);
    await clock.advance(60_000);
    await closed;
  });
  return { clock, connection };
}

it('the head is sent before the first frame is there', async () => {
  const source = new Source();
  const { connection } = await stream(source);
  expect(await connection.until(/\r\n\r\n$/)).toContain('x-kind: stream');
});

/** Events of an event stream, each after as many promises as an engine may need for one. */
async function* events(...numbers: number[]): AsyncGenerator<StreamItem> {
  for (const seq of numbers) {
    for (let promise = 0; promise < 50; promise++) await undefined;
    yield { seq, event: { message: { messageId: `m${seq}`, role: 'ROLE_AGENT', parts: [{ text: '' }] } } };
  }
}

it('events of one turn of the event loop are one chunk, with the head and the end in the same write', async () => {
  const exchange: Exchange = async ({ afterPromises }) => {
    const frames = { event: ({ seq }: StreamItem) => eventFrame(`${seq}`), failure: String };
    const options = { items: events(1, 2, 3), frames, clock: new ManualClock(), heartbeatMs: 15_000, afterPromises };
    return { status: 200, headers: { 'x-kind': 'stream' }, body: await SseStream.open(options) };
  };
  const { connection } = await serveExchange(exchange, get('/'));
  const chunks: string[] = [];
  connection.socket.on('data', (chunk) => chunks.push(String(chunk)));
  await connection.until(/0\r\n\r\n$/);
  expect(chunks).toHaveLength(1);
  expect(chunks[0]).toContain('\r\n1b\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n\r\n0\r\n\r\n');
});

it('a frame is written as it comes', async () => {
  const source = new Source();
  const { connection } = await stream(source);
  await connection.until(/\r\n\r\n$/);
  source.give('one\n', 'two\n');
  expect(await connection.until(/two/)).toMatch(/\r\n4\r\none\n\r\n4\r\ntwo\n/);
  source.give('four\n', undefined);
  expect(await connection.until(/four\n\r\n0\r\n\r\n$/)).toContain('5\r\nfour\n');
  expect(source.returned).toBe(0);
});

it('frames are pulled no faster than the peer reads', async () => {
  const frame = 'x'.repeat(10_000);
  let pulled = 0;
  const { connection } = await stream(
    (async function* () {
      for (; pulled < 3_000; pulled++) yield frame;
    })(),
    'connection: close\r\n',
  );
  connection.socket.pause();
  let before = -1;
  for (let quiet = 0; quiet < 50; quiet = pulled === before ? quiet + 1 : 0) {
    before = pulled;
    await turn();
  }
  expect(pulled).toBeLessThan(2_000);
  connection.socket.resume();
  const all = await connection.untilEnd();
  expect(pulled).toBe(3_000);
  expect(all.length).toBeGreaterThan(30_000_000);
});

it('a peer that takes nothing is dropped after a while, one that takes something is not', async () => {
  const frame = 'x'.repeat(100_000);
  let returned = false;
  let pulled = 0;
  const { clock, connection } = await stream(
    (async function* () {
      try {
        for (;;) {
          pulled++;
          yield frame;
        }
      } finally {
        returned = true;
      }
    })(),
  );
  const waitForStall = async () => {
    let before = -1;
    for (let quiet = 0; quiet < 50; quiet = pulled === before ? quiet + 1 : 0) {
      before = pulled;
      await turn();
    }
  };
  connection.socket.pause();
  await waitForStall();
  await clock.advance(29_000);
  connection.socket.resume();
  const before = pulled;
  while (pulled < before + 100) await turn();
  connection.socket.pause();
  await waitForStall();
  await clock.advance(29_000);
  expect(returned).toBe(false);
  await clock.advance(2_000);
  while (!returned) await turn();
});

/** An answer of 300,000 characters, more than a connection buffers. Counts the pieces that are asked for. */
const LONG: Readonly<Record<string, (count: () => void) => Partial<ExchangeResponse>>> = {
  'a stream': (count) => ({ body: threeTimes('x'.repeat(100_000), count) }),
  bytes: (count) => ({ bytes: { length: 300_000, chunks: threeTimes(Buffer.alloc(100_000, 'x'), count) } }),
};

async function* threeTimes<T>(piece: T, count: () => void) {
  for (let piecesGiven = 0; piecesGiven < 3; piecesGiven++) {
    count();
    yield piece;
  }
}

it.each(Object.entries(LONG))('a peer that reads is not dropped while %s waits behind a stream', async (_, long) => {
  const first = new Source();
  let pulled = 0;
  const exchange: Exchange = async ({ path }) => ({
    status: 200,
    headers: {},
    ...(path === '/first' ? { body: first } : long(() => pulled++)),
  });
  const { clock, connection } = await serveExchange(exchange, get('/first') + get('/second', 'connection: close\r\n'));
  while (pulled === 0) await turn();
  first.give('one\n');
  await connection.until(/one/);
  await clock.advance(60_000);
  first.give('two\n', undefined);
  const all = await connection.untilEnd();
  expect(all).toContain('two\n');
  expect(all.match(/x+/g)?.join('')).toHaveLength(300_000);
});

it('the frames are let go at once when the peer goes away, even while one is awaited', async () => {
  const source = new Source();
  const { connection } = await stream(source);
  source.give('one\n');
  await connection.until(/one/);
  connection.socket.destroy();
  while (source.returned === 0) await turn();
  expect(source.returned).toBe(1);
});

it('a stream that fails breaks off: the peer does not take it for the whole answer', async () => {
  const source = new Source();
  const { connection } = await stream(source);
  source.give('one\n');
  await connection.until(/one/);
  source.give(new Error('broken'));
  expect(await connection.untilEnd()).not.toContain('0\r\n\r\n');
});
