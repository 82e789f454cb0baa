import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock, settlePromises } from '../../../test/manual-clock.js';
import type { StreamItem } from '../../task/stream-item.js';
import { eventFrame, SseStream } from './sse-stream.js';

const item = (seq: number): StreamItem => ({
  seq,
  event: { message: { messageId: `m${seq}`, role: 'ROLE_AGENT', parts: [{ text: '' }] } },
});
const frames = {
  event: ({ seq }: StreamItem) => eventFrame(`"${seq}"`, seq),
  failure: (error: unknown) => eventFrame(`"failed: ${(error as Error).message}"`),
};
const framesOf = (...seqs: number[]) => seqs.map((seq) => frames.event(item(seq))).join('');
const COMMENT = ': keep-alive\n\n';

/** A source that a test feeds. */
class Source implements AsyncIterableIterator<StreamItem> {
  pulls = 0;
  returns = 0;
  readonly #ready: (() => Promise<IteratorResult<StreamItem>>)[] = [];
  #waiting: ((result: Promise<IteratorResult<StreamItem>>) => void) | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamItem>> {
    this.pulls++;
    const ready = this.#ready.shift();
    return ready === undefined ? new Promise((resolve) => (this.#waiting = resolve)) : ready();
  }

  return(): Promise<IteratorResult<StreamItem>> {
    this.returns++;
    return Promise.resolve({ value: undefined, done: true });
  }

  push(...seqs: number[]): this {
    for (const seq of seqs) this.#give(() => Promise.resolve({ value: item(seq), done: false }));
    return this;
  }

  end(): this {
    return this.#give(() => Promise.resolve({ value: undefined, done: true }));
  }

  fail(message: string): this {
    return this.#give(() => Promise.reject(new Error(message)));
  }

  #give(result: () => Promise<IteratorResult<StreamItem>>): this {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#ready.push(result);
    else waiting(result());
    return this;
  }
}

function setUp() {
  const clock = new ManualClock();
  const source = new Source();
  const open = (items: AsyncIterable<StreamItem> = source) =>
    SseStream.open({ items, frames, clock, heartbeatMs: 15_000 });
  return { clock, source, open };
}

async function allOf(stream: AsyncIterable<string>): Promise<string[]> {
  const strings: string[] = [];
  for await (const text of stream) strings.push(text);
  return strings;
}

describe('an event stream', () => {
  it('hands out what is ready in one string, then ends', async () => {
    const { source, open, clock } = setUp();
    source.push(1, 2, 3).end();
    expect(await allOf(await open())).toEqual([framesOf(1, 2, 3)]);
    expect(clock.pendingTimers).toBe(0);
    expect(source.returns).toBe(0);
  });

  it('hands out at once what is there, and later what comes later', async () => {
    const { source, open } = setUp();
    const stream = await open(source.push(1));
    expect(await stream.next()).toEqual({ value: framesOf(1), done: false });
    const next = stream.next();
    await settlePromises();
    source.push(2, 3);
    expect(await next).toEqual({ value: framesOf(2, 3), done: false });
    source.end();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  it('pulls only while it is read, and then what is ready and the one after', async () => {
    const { source, open } = setUp();
    source.push(1, 2, 3, 4, 5, 6);
    const stream = await open();
    await settlePromises();
    expect(source.pulls).toBe(1);
    await stream.next();
    const pulls = source.pulls;
    await settlePromises();
    source.push(7, 8, 9);
    await settlePromises();
    expect(source.pulls).toBe(pulls);
    expect(pulls).toBe(7);
  });

  it('joins up to a length only, so that a long log is not pulled at once', async () => {
    const { source, open } = setUp();
    for (let seq = 1; seq <= 10_000; seq++) source.push(seq);
    const stream = await open();
    const { value } = await stream.next();
    expect(value.length).toBeGreaterThan(16_000);
    expect(value.length).toBeLessThan(17_000);
    await settlePromises();
    expect(source.pulls).toBeLessThan(1500);
    source.end();
    expect((value + (await allOf(stream)).join('')).split('\n\n')).toHaveLength(10_001);
  });

  it('gives every event once and in order, whenever they come and whenever it is read', async () => {
    const steps = fc.array(fc.constantFrom('push', 'push', 'read', 'settle', 'tick'), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (script, generator) => {
        const { source, open, clock } = setUp();
        const items = generator ? relay(source) : source;
        const opening = open(items);
        const reads: Promise<IteratorResult<string>>[] = [];
        let seq = 0;
        source.push(++seq);
        const stream = await opening;
        for (const step of script) {
          if (step === 'push') source.push(++seq);
          else if (step === 'read') reads.push(stream.next());
          else if (step === 'tick') await clock.advance(15_000);
          else await settlePromises();
        }
        source.end();
        const read = (await Promise.all(reads)).map(({ value }) => value ?? '');
        const text = [...read, ...(await allOf(stream))].join('').replaceAll(COMMENT, '');
        expect(text).toBe(framesOf(...Array.from({ length: seq }, (_, index) => index + 1)));
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('answers several reads at a time in their order', async () => {
    const { source, open } = setUp();
    const stream = await open(source.push(1));
    const reads = [stream.next(), stream.next(), stream.next()];
    await settlePromises();
    source.push(2);
    await settlePromises();
    source.end();
    expect((await Promise.all(reads)).map(({ value }) => value)).toEqual([framesOf(1), framesOf(2), undefined]);
  });
});

describe('the start of an event stream', () => {
  it('waits for the first item', async () => {
    const { source, open } = setUp();
    let opened = false;
    const opening = open().then((stream) => {
      opened = true;
      return stream;
    });
    await settlePromises();
    expect(opened).toBe(false);
    source.push(1);
    expect(await (await opening).next()).toEqual({ value: framesOf(1), done: false });
  });

  it.each([
    ['the source fails', (source: Source) => source.fail('no')],
    ['the iterator cannot be had', () => ({ [Symbol.asyncIterator]: () => fault() })],
    ['the source cannot be pulled', () => ({ [Symbol.asyncIterator]: () => ({ next: () => fault() }) })],
  ])('rejects when %s, leaving no timer', async (_name, items) => {
    const { source, open, clock } = setUp();
    await expect(open(items(source) as never)).rejects.toThrow('no');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is an empty stream when the source ends at once', async () => {
    const { source, open } = setUp();
    expect(await allOf(await open(source.end()))).toEqual([]);
  });

  it('opens after a heartbeat of silence; later errors are part of the stream', async () => {
    const { source, open, clock } = setUp();
    const opening = open();
    await clock.advance(15_000);
    const stream = await opening;
    expect(await stream.next()).toEqual({ value: COMMENT, done: false });
    source.fail('late');
    expect(await allOf(stream)).toEqual([eventFrame('"failed: late"')]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a silent event stream', () => {
  it('shows by a comment every heartbeat that it lives, with one timer', async () => {
    const { source, open, clock } = setUp();
    const stream = await open(source.push(1));
    await stream.next();
    for (let beat = 0; beat < 3; beat++) {
      const next = stream.next();
      await clock.advance(14_999);
      expect(clock.pendingTimers).toBe(1);
      await clock.advance(1);
      expect(await next).toEqual({ value: COMMENT, done: false });
    }
    const next = stream.next();
    await clock.advance(14_000);
    source.push(2);
    expect((await next).value).toBe(framesOf(2));
    const after = stream.next();
    await clock.advance(14_999);
    await clock.advance(1);
    expect((await after).value).toBe(COMMENT);
    expect(source.returns).toBe(0);
  });

  it('says nothing to a reader that does not read', async () => {
    const { source, open, clock } = setUp();
    const stream = await open(source.push(1));
    await clock.advance(15_000);
    await clock.advance(15_000);
    expect(clock.pendingTimers).toBe(0);
    expect(await stream.next()).toEqual({ value: framesOf(1), done: false });
  });
});

describe('an event stream that is let go', () => {
  it('tells its source at once, even while an item is awaited, and ends the read', async () => {
    const { source, open, clock } = setUp();
    const stream = await open(source.push(1));
    await stream.next();
    const pending = stream.next();
    const returned = stream.return();
    expect(source.returns).toBe(1);
    expect(clock.pendingTimers).toBe(0);
    expect(await pending).toEqual({ value: undefined, done: true });
    expect(await returned).toEqual({ value: undefined, done: true });
    source.push(2);
    await settlePromises();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    await stream.return();
    expect(source.returns).toBe(1);
  });

  it('drops what is ready', async () => {
    const { source, open } = setUp();
    const stream = await open(source.push(1, 2, 3));
    await stream.return();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(source.returns).toBe(1);
  });

  it('by the end of a loop, too', async () => {
    const { source, open } = setUp();
    for await (const _ of await open(source.push(1))) break;
    expect(source.returns).toBe(1);
  });

  it('does not mind what its source does then', async () => {
    const { open } = setUp();
    const first = () => Promise.resolve({ value: item(1), done: false });
    for (const end of [() => fault(), () => Promise.reject(new Error('no')), undefined]) {
      const items = { [Symbol.asyncIterator]: () => ({ next: first, return: end }) };
      const stream = await open(items as never);
      expect(await stream.return()).toEqual({ value: undefined, done: true });
    }
    await settlePromises();
  });

  it('ignores a failure that comes after', async () => {
    const { source, open } = setUp();
    const stream = await open(source.push(1));
    await stream.next();
    const pending = stream.next();
    await stream.return();
    source.fail('too late');
    await settlePromises();
    expect(await pending).toEqual({ value: undefined, done: true });
  });
});

describe('a frame', () => {
  it('is its id and one line of data', () => {
    expect(eventFrame('{"a":1}', 7)).toBe('id: 7\ndata: {"a":1}\n\n');
    expect(eventFrame('{}')).toBe('data: {}\n\n');
  });
});

function fault(): never {
  throw new Error('no');
}

async function* relay(source: Source): AsyncGenerator<StreamItem> {
  yield* source;
}
