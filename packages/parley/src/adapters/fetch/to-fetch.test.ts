import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { A2AError } from '../../errors/a2a-error.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import { toFetch } from './to-fetch.js';

const clock = new ManualClock();

const reached: ReachedLimit[] = [];
const limitReached = (limit: ReachedLimit) => reached.push(limit);

const answerWith = (answer: ExchangeResponse) => toFetch({ exchange: async () => answer, clock, limitReached });

/** The result of `look` at a request. */
async function lookAt<T>(request: Request, look: (request: ExchangeRequest) => Promise<T> | T): Promise<T> {
  let result: T | undefined;
  const exchange: Exchange = async (exchanged) => {
    result = await look(exchanged);
    return { status: 204, headers: {} };
  };
  await toFetch({ exchange, clock, limitReached })(request);
  return result as T;
}

it('a request arrives with method, path, query, headers and body', async () => {
  const headers: [string, string][] = [
    ['x-two', '1'],
    ['x-two', '2'],
  ];
  const request = new Request('https://example.com/a/b%20c?x=1', { method: 'POST', body: 'hellö', headers });
  expect(
    await lookAt(request, async (exchanged) => ({
      method: exchanged.method,
      path: exchanged.path,
      query: exchanged.query,
      header: exchanged.header('x-two'),
      none: exchanged.header('x-none'),
      body: new TextDecoder().decode(await exchanged.body(100)),
      again: (await exchanged.body(100)).length,
    })),
  ).toEqual({
    method: 'POST',
    path: '/a/b%20c',
    query: 'x=1',
    header: '1, 2',
    none: undefined,
    body: 'hellö',
    again: 6,
  });
});

it('a request without a body has an empty one', async () => {
  const size = await lookAt(new Request('http://x/'), async (request) => (await request.body(0)).length);
  expect(size).toBe(0);
});

it('the signal is that of the request', async () => {
  const controller = new AbortController();
  const request = new Request('http://x/', { signal: controller.signal });
  const aborted = await lookAt(request, ({ signal }) => {
    controller.abort();
    return signal.aborted;
  });
  expect(aborted).toBe(true);
});

it.each([
  ['an announced length', new Request('http://x/', { method: 'POST', body: 'x', headers: { 'content-length': '11' } })],
  ['its pieces', new Request('http://x/', { method: 'POST', body: endless(), duplex: 'half' } as RequestInit)],
])('a body over the limit by %s is refused', async (_, request) => {
  const code = await lookAt(request, (exchanged) => exchanged.body(10).catch((error: A2AError) => error.code));
  expect(code).toBe('PAYLOAD_TOO_LARGE');
});

it.each([
  ['a small one', 'x', true],
  ['a large one', 'x'.repeat(100_000), false],
])('of a body that nobody asks for, %s is read: %s', async (_, body, read) => {
  const headers = { 'content-length': String(body.length) };
  const request = new Request('http://x/', { method: 'POST', body, headers });
  expect(await lookAt(request, () => 'an answer')).toBe('an answer');
  expect(request.bodyUsed).toBe(read);
});

it('a body within the limit may come in pieces', async () => {
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of ['a', 'bc', 'd']) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const request = new Request('http://x/', { method: 'POST', body: pieces, duplex: 'half' } as RequestInit);
  expect(await lookAt(request, async (exchanged) => String(await exchanged.body(4)))).toBe('97,98,99,100');
});

it.each([
  ['text', 'hellö', 'hellö'],
  ['bytes', new Uint8Array([104, 105]), 'hi'],
  ['nothing', undefined, ''],
])('an answer may be %s', async (_, body, expected) => {
  const answer = { status: 201, headers: { 'x-a': 'b' }, ...(body !== undefined && { body }) };
  const response = await answerWith(answer)(new Request('http://x/'));
  expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([201, 'b', expected]);
});

it.each([204, 304])('an answer with status %i has no body', async (status) => {
  expect((await answerWith({ status, headers: {}, body: 'x' })(new Request('http://x/'))).body).toBeNull();
});

it('an answer to HEAD has no body', async () => {
  const response = await answerWith({ status: 200, headers: {}, body: 'x' })(
    new Request('http://x/', { method: 'HEAD' }),
  );
  expect(response.body).toBeNull();
});

it('a stream is pulled only as its reader asks, and let go when the reader cancels', async () => {
  let pulled = 0;
  let ended = false;
  async function* frames() {
    try {
      for (;;) yield `frame ${++pulled}\n`;
    } finally {
      ended = true;
    }
  }
  const response = await answerWith({ status: 200, headers: {}, body: frames() })(new Request('http://x/'));
  expect(pulled).toBe(0);
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value as Uint8Array)).toBe('frame 1\n');
  expect(pulled).toBeLessThanOrEqual(2);
  await reader?.cancel();
  expect(ended).toBe(true);
});

it('a stream ends with its frames, and breaks where they break', async () => {
  const ending = answerWith({ status: 200, headers: {}, body: frames(false) });
  expect(await (await ending(new Request('http://x/'))).text()).toBe('one\n');
  const breaking = answerWith({ status: 200, headers: {}, body: frames(true) });
  await expect((await breaking(new Request('http://x/'))).text()).rejects.toThrow('broken');
});

/** Frames without end, and whether they were let go. */
function endlessFrames() {
  const source = { pulled: 0, released: false };
  async function* frames() {
    try {
      for (;;) yield `frame ${++source.pulled}\n`;
    } finally {
      source.released = true;
    }
  }
  return { source, frames: frames() };
}

it('a stream is let go when its request is aborted', async () => {
  const { source, frames } = endlessFrames();
  const leave = new AbortController();
  const response = await answerWith({ status: 200, headers: {}, body: frames })(
    new Request('http://x/', { signal: leave.signal }),
  );
  const reader = response.body?.getReader();
  await reader?.read();
  leave.abort();
  await expect.poll(() => source.released).toBe(true);
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
  const late = endlessFrames();
  const gone = new Request('http://x/', { signal: leave.signal });
  expect(await (await answerWith({ status: 200, headers: {}, body: late.frames })(gone)).text()).toBe('');
  expect(late.source.pulled).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

it('a reader that takes nothing for a while is dropped, one that takes something is not', async () => {
  const { source, frames } = endlessFrames();
  const response = await answerWith({ status: 200, headers: {}, body: frames })(new Request('http://x/'));
  const reader = response.body?.getReader();
  await reader?.read();
  await clock.advance(29_000);
  await reader?.read();
  await clock.advance(29_000);
  expect([source.released, reached]).toEqual([false, []]);
  await clock.advance(2_000);
  expect([source.released, reached]).toEqual([true, [{ limit: 'stallMs', requestId: undefined }]]);
  await expect(reader?.read()).rejects.toThrow('took nothing');
  expect(clock.pendingTimers).toBe(0);
});

it('a reader that waits for a stream is not dropped', async () => {
  let give: (() => void) | undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  async function* late() {
    await given;
    yield 'late';
  }
  const response = await answerWith({ status: 200, headers: {}, body: late() })(new Request('http://x/'));
  const text = response.text();
  await clock.advance(600_000);
  give?.();
  expect(await text).toBe('late');
  expect(clock.pendingTimers).toBe(0);
});

async function* frames(breaks: boolean) {
  yield 'one\n';
  if (breaks) throw new Error('broken');
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(4)) });
}

it('a host without WebSockets answers 501', async () => {
  const answer = await answerWith({ status: 101, headers: {}, upgrade: () => {} })(new Request('http://x/'));
  expect(answer.status).toBe(501);
});
