import type { PushFigures } from '../telemetry/server-figures.js';

/** A queue whose last attempt failed, in ms of the monotonic clock. */
interface Waiting {
  readonly since: number;
  /** Time of the next attempt. */
  readonly dueAt: number;
}

/** Minimum number of queues before stale ones are removed. */
const LEAST_QUEUES = 256;

/** Counts the deliveries of a sender. */
export class PushTally {
  delivered = 0;
  failed = 0;
  parked = 0;
  /** Queues that wait for another attempt, the longest failing first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #lateMs: number;
  #mostQueues = LEAST_QUEUES;

  /** `lateMs`: a queue whose next attempt is late by more than this was deleted, or another process has it. */
  constructor(lateMs: number) {
    this.#lateMs = lateMs;
  }

  /** The number of queues that wait for another attempt. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Records a failed queue. Its next attempt is due in `inMs`. */
  waits(queue: string, { now, inMs }: { readonly now: number; readonly inMs: number }): void {
    const { since = now } = this.#waiting.get(queue) ?? {};
    this.#waiting.set(queue, { since, dueAt: now + inMs });
    if (this.#waiting.size <= this.#mostQueues) return;
    this.#forgetGone(now);
    this.#mostQueues = Math.max(LEAST_QUEUES, 2 * this.#waiting.size);
  }

  /** Postpones the next attempt of a queue: it is due in `inMs`. Does nothing for a queue that has not failed. */
  putOff(queue: string, { now, inMs }: { readonly now: number; readonly inMs: number }): void {
    const waiting = this.#waiting.get(queue);
    if (waiting !== undefined) this.#waiting.set(queue, { ...waiting, dueAt: now + inMs });
  }

  /** Removes a queue that succeeded or was parked. */
  goesOn(queue: string): void {
    this.#waiting.delete(queue);
  }

  /** The metrics at a monotonic time. */
  figures(inFlight: number, now: number): PushFigures {
    this.#forgetGone(now);
    const { delivered, failed, parked } = this;
    const [oldest] = this.#waiting.values();
    return { delivered, failed, parked, inFlight, oldestWaitMs: oldest === undefined ? 0 : now - oldest.since };
  }

  #forgetGone(now: number): void {
    for (const [queue, { dueAt }] of this.#waiting) if (now - dueAt > this.#lateMs) this.#waiting.delete(queue);
  }
}
