import { expect, it } from 'vitest';
import { ManualClock } from '../../../parley/test/manual-clock.js';
import type { FeedItem } from './session-types.js';
import { type PeerFunction, Watch } from './watch.js';

/** A feed with an item for each number, that waits for good at its end. */
class Feed {
  readonly lastLength = 10;
  stops = 0;
  #seq = 0;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  next(): Promise<FeedItem | undefined> {
    if (this.#seq === this.#count) return new Promise(() => {});
    this.#seq += 1;
    return Promise.resolve({ seq: this.#seq, event: {} } as FeedItem);
  }

  stop(): void {
    this.stops += 1;
  }
}

/** A function of a peer that answers as told. */
function peerFunction(answer: (seqs: readonly number[]) => Promise<void>) {
  const state = { disposed: 0, taken: [] as (readonly number[])[] };
  const call = (items: readonly FeedItem[]) => {
    const seqs = items.map(({ seq }) => seq);
    state.taken.push(seqs);
    return Object.assign(answer(seqs), { [Symbol.dispose]() {} });
  };
  const sink: PeerFunction = Object.assign(call, {
    dup: () => sink,
    [Symbol.dispose]: () => {
      state.disposed += 1;
    },
  });
  return { sink, state };
}

it('a function that returns no answer for 30 s ends its own watch, and takes nothing more', async () => {
  const clock = new ManualClock();
  const source = new Feed(100);
  const { sink, state } = peerFunction(() => new Promise(() => {}));
  new Watch({ source, sink, clock });
  await clock.advance(29_999);
  expect([state.taken.length, source.stops, state.disposed]).toEqual([1, 0, 0]);
  await clock.advance(1);
  expect([state.taken.length, source.stops, state.disposed]).toEqual([1, 1, 1]);
  expect(clock.pendingTimers).toBe(0);
});

it('a slow function keeps its watch, and gets all that is ready in one batch', async () => {
  const clock = new ManualClock();
  const source = new Feed(100);
  const { sink, state } = peerFunction(() => new Promise((resolve) => clock.after(29_999, resolve)));
  new Watch({ source, sink, clock });
  await clock.advance(60_000);
  expect(state.taken.flat()).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(state.taken.map(({ length }) => length)).toEqual([64, 36]);
  expect([source.stops, state.disposed]).toEqual([0, 0]);
});

it('a function that throws ends its own watch at once', async () => {
  const clock = new ManualClock();
  const source = new Feed(1);
  const { sink, state } = peerFunction(() => Promise.reject(new Error('of the peer')));
  new Watch({ source, sink, clock });
  await clock.settle();
  expect([source.stops, state.disposed, clock.pendingTimers]).toEqual([1, 1, 0]);
});
