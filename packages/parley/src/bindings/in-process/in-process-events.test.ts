import { describe, expect, it } from 'vitest';
import { ManualClock, settlePromises } from '../../../test/manual-clock.js';
import type { StreamItem } from '../../task/stream-item.js';
import { InProcessEvents, InProcessStreams } from './in-process-events.js';

const HEARTBEAT_MS = 15_000;
const END = { value: undefined, done: true };
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } as const;

/** Items that a test gives one by one. */
class Items implements AsyncIterableIterator<StreamItem, undefined> {
  returns = 0;
  #waiting: ((result: IteratorResult<StreamItem, undefined>) => void) | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamItem, undefined>> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.returns += 1;
    return Promise.resolve({ value: undefined, done: true });
  }

  give(seq: number): void {
    this.#waiting?.({ value: { seq, event: { message } }, done: false });
  }
}

function setUp() {
  const clock = new ManualClock();
  const streams = new InProcessStreams();
  const items = new Items();
  const caller = new AbortController();
  let left = 0;
  const events = new InProcessEvents({
    items,
    streams,
    clock,
    heartbeatMs: HEARTBEAT_MS,
    signal: caller.signal,
    left: () => void left++,
    failure: (error) => error,
  });
  return { clock, streams, items, caller, events, left: () => left };
}

const batch = (seq: number) => ({ value: [{ event: { message }, id: String(seq) }], done: false });

describe('the events of a stream in the process', () => {
  it('show that they live while the agent is silent, and lose nothing by that', async () => {
    const { clock, items, events } = setUp();
    const silent = events.next();
    await clock.advance(HEARTBEAT_MS);
    expect(await silent).toEqual({ value: [], done: false });
    items.give(1);
    await settlePromises();
    expect(await events.next()).toEqual(batch(1));
    const next = events.next();
    items.give(2);
    expect(await next).toEqual(batch(2));
    await events.return();
    expect(clock.pendingTimers).toBe(0);
  });

  it('end at once for a reader that waits when the server closes', async () => {
    const { clock, streams, items, events, left } = setUp();
    const waiting = events.next();
    const closing = streams.close(5_000, clock);
    await clock.settle();
    await closing;
    expect(await waiting).toEqual(END);
    expect([items.returns, left(), streams.isClosed]).toEqual([1, 1, true]);
  });

  it('wait for a reader that is busy when the server closes, for the grace', async () => {
    const { clock, streams, events } = setUp();
    let isClosed = false;
    void streams.close(5_000, clock).then(() => (isClosed = true));
    await clock.advance(4_999);
    expect(isClosed).toBe(false);
    await clock.advance(1);
    expect(isClosed).toBe(true);
    expect(await events.next()).toEqual(END);
  });

  it('end with the reason of the caller, also if no event is awaited', async () => {
    const one = setUp();
    const reason = new Error('enough');
    const waiting = one.events.next();
    one.caller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(await one.events.next()).toEqual(END);
    const other = setUp();
    other.caller.abort(reason);
    await expect(other.events.next()).rejects.toBe(reason);
    expect([other.items.returns, other.left()]).toEqual([1, 1]);
  });
});
