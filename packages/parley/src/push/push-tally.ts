import type { PushFigures } from '../telemetry/server-figures.js';

/** Counts what a sender does. */
export class PushTally {
  delivered = 0;
  failed = 0;
  parked = 0;
  /** Queues that wait for another attempt, with the monotonic time of their first failure, the oldest first. */
  readonly #waiting = new Map<string, number>();

  /** A queue whose last attempt failed. */
  waits(queue: string, now: number): void {
    if (!this.#waiting.has(queue)) this.#waiting.set(queue, now);
  }

  /** A queue that goes on, or is parked. */
  goesOn(queue: string): void {
    this.#waiting.delete(queue);
  }

  /** The figures at a monotonic time. */
  figures(inFlight: number, now: number): PushFigures {
    const { delivered, failed, parked } = this;
    const [oldest = now] = this.#waiting.values();
    return { delivered, failed, parked, inFlight, oldestWaitMs: now - oldest };
  }
}
