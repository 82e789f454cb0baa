import { describe, expect, it } from 'vitest';
import { ManualClock, settlePromises } from '../../../test/manual-clock.js';
import type { StreamItem } from '../../task/stream-item.js';
import { beginRecord } from '../http/call-record.js';
import { ItemStream } from './item-stream.js';

const FIRST_ITEM_MS = 15_000;
const END = { value: undefined, done: true };

const item = (seq: number): StreamItem => ({
  seq,
  event: { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } },
});
const next = (seq: number) => ({ value: item(seq), done: false });

/** A source that a test feeds. It counts its reads and its ends. */
class Source implements AsyncIterableIterator<StreamItem> {
  pulls = 0;
  returns = 0;
  /** The error of its clean-up. */
  returnFault: Error | undefined;
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
    return this.returnFault === undefined
      ? Promise.resolve({ value: undefined, done: true })
      : Promise.reject(this.returnFault);
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
  const record = beginRecord('TEST');
  const places = { closed: 0, watched: 0 };
  let end: (() => void) | undefined;
  const open = (items: AsyncIterable<StreamItem> = source) =>
    ItemStream.open({
      items,
      clock,
      firstItemMs: FIRST_ITEM_MS,
      failure: (thrown) => new Error(`told: ${(thrown as Error).message}`),
      closed: () => void places.closed++,
      onCredentialEnd: (ended) => {
        end = ended;
        places.watched++;
        return () => void places.watched--;
      },
      record,
    });
  return { clock, source, record, places, open, endCredential: () => end?.() };
}

async function allOf(stream: AsyncIterable<StreamItem>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq = 0 } of stream) seqs.push(seq);
  return seqs;
}

describe('the events of a direct call', () => {
  it('come in order, and their place is given back once at the end', async () => {
    const { source, open, places, clock, record } = setUp();
    source.push(1, 2, 3).end();
    const stream = await open();
    expect(record).toMatchObject({ taskId: 't1', contextId: 'c1' });
    expect(clock.pendingTimers).toBe(0);
    expect(await allOf(stream)).toEqual([1, 2, 3]);
    expect(await stream.next()).toEqual(END);
    expect(await stream.return()).toEqual(END);
    expect(places).toEqual({ closed: 1, watched: 0 });
    expect(source.returns).toBe(0);
  });

  it('that are there already come without a promise, after the first one and while no read waits', async () => {
    const { source, open, endCredential } = setUp();
    const there = [2, 3, 4].map(item);
    const items = Object.assign(source, { ready: () => there.shift() });
    const stream = await open(items.push(1));
    expect(stream.ready()).toBeUndefined();
    expect(await stream.next()).toEqual(next(1));
    expect(stream.ready()?.seq).toBe(2);
    const waiting = stream.next();
    expect(stream.ready()).toBeUndefined();
    source.push(9);
    expect(await waiting).toEqual(next(9));
    expect(stream.ready()?.seq).toBe(3);
    endCredential();
    expect(stream.ready()).toBeUndefined();
    await expect(stream.next()).rejects.toThrow();
  });

  it('are read on demand only', async () => {
    const { source, open } = setUp();
    const stream = await open(source.push(1, 2, 3));
    await settlePromises();
    expect(source.pulls).toBe(1);
    expect(await stream.next()).toEqual(next(1));
    await settlePromises();
    expect(source.pulls).toBe(1);
    expect(await stream.next()).toEqual(next(2));
    expect(source.pulls).toBe(2);
  });

  it('begin without the first one, if the agent is slow', async () => {
    const { source, open, clock } = setUp();
    const opening = open();
    let isOpen = false;
    void opening.then(() => (isOpen = true));
    await clock.advance(FIRST_ITEM_MS - 1);
    expect(isOpen).toBe(false);
    await clock.advance(1);
    const stream = await opening;
    const first = stream.next();
    source.push(1).end();
    expect(await first).toEqual(next(1));
    expect(source.pulls).toBe(1);
    expect(await stream.next()).toEqual(END);
  });

  it('do not begin if the source fails before the first one', async () => {
    const { source, open, places, clock } = setUp();
    source.fail('no');
    await expect(open()).rejects.toThrow(/^no$/);
    expect(places).toEqual({ closed: 1, watched: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('do not begin if the source throws at once, in either of its methods', async () => {
    const one = setUp();
    const throwError = (message: string) => () => {
      throw new Error(message);
    };
    const unread = { [Symbol.asyncIterator]: throwError('no iterator') };
    await expect(one.open(unread)).rejects.toThrow('no iterator');
    expect(one.places).toEqual({ closed: 1, watched: 0 });
    const other = setUp();
    const source = { [Symbol.asyncIterator]: () => ({ next: throwError('no item') }) };
    await expect(other.open(source)).rejects.toThrow('no item');
    expect(other.places).toEqual({ closed: 1, watched: 0 });
  });

  it('end with the error of a source that fails later, in the words for the caller', async () => {
    const { source, open, places } = setUp();
    const stream = await open(source.push(1).fail('broken'));
    expect(await stream.next()).toEqual(next(1));
    await expect(stream.next()).rejects.toThrow('told: broken');
    expect(await stream.next()).toEqual(END);
    expect(places).toEqual({ closed: 1, watched: 0 });
  });

  it('end with that error after a slow begin, too', async () => {
    const { source, open, clock } = setUp();
    const opening = open();
    await clock.advance(FIRST_ITEM_MS);
    const stream = await opening;
    source.fail('broken');
    await settlePromises();
    await expect(stream.next()).rejects.toThrow('told: broken');
    expect(await stream.next()).toEqual(END);
  });

  it('end at once if the reader leaves, although an item is awaited', async () => {
    const { source, open, places } = setUp();
    const stream = await open(source.push(1));
    await stream.next();
    const awaited = stream.next();
    expect(await stream.return()).toEqual(END);
    expect(await awaited).toEqual(END);
    expect(source.returns).toBe(1);
    source.push(2);
    await settlePromises();
    expect(await stream.next()).toEqual(END);
    expect(await stream.return()).toEqual(END);
    expect(source.returns).toBe(1);
    expect(places).toEqual({ closed: 1, watched: 0 });
  });

  it('drop the first one if the reader leaves before reading it', async () => {
    const { source, open, places } = setUp();
    const stream = await open(source.push(1));
    expect(await stream.return()).toEqual(END);
    expect(await stream.next()).toEqual(END);
    expect(source.returns).toBe(1);
    expect(places.closed).toBe(1);
  });

  it('end without a fault if the clean-up of the source fails', async () => {
    const { source, open } = setUp();
    const stream = await open(source.push(1));
    source.returnFault = new Error('clean-up');
    expect(await stream.return()).toEqual(END);
    await settlePromises();
  });

  it('end with an error when the credential ends, while an item is awaited', async () => {
    const { source, open, places, endCredential } = setUp();
    const stream = await open(source.push(1));
    await stream.next();
    const awaited = stream.next();
    endCredential();
    endCredential();
    await expect(awaited).rejects.toThrow('told: The credential has expired or was revoked');
    expect(source.returns).toBe(1);
    expect(await stream.next()).toEqual(END);
    expect(places).toEqual({ closed: 1, watched: 0 });
  });

  it('end with that error at the next read, if none is awaited', async () => {
    const { source, open, places, endCredential } = setUp();
    const stream = await open(source.push(1, 2));
    expect(await stream.next()).toEqual(next(1));
    endCredential();
    await expect(stream.next()).rejects.toThrow('told: The credential');
    expect(places.closed).toBe(1);
  });

  it('do not begin if the credential ends before the first one', async () => {
    const { source, open, places, endCredential, clock } = setUp();
    const opening = open();
    await settlePromises();
    endCredential();
    await expect(opening).rejects.toThrow(/^The credential/);
    expect(source.returns).toBe(1);
    expect(places).toEqual({ closed: 1, watched: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('stay as they are if the credential ends after them', async () => {
    const { source, open, places, endCredential } = setUp();
    const stream = await open(source.push(1).end());
    expect(await allOf(stream)).toEqual([1]);
    endCredential();
    expect(await stream.next()).toEqual(END);
    expect(source.returns).toBe(0);
    expect(places).toEqual({ closed: 1, watched: 0 });
  });
});
