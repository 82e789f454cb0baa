import type { Clock } from '../../runtime/clock.js';

/**
 * A clock with the time of day of the storage, so that processes with different clocks write the same times. Timers and
 * monotonic time are those of the process. Before the first measurement it uses the time of the process.
 */
export class StorageClock implements Clock {
  readonly #clock: Clock;
  /** Time of the storage minus monotonic time. */
  #offset: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True after the first measurement. */
  get isSet(): boolean {
    return this.#offset !== undefined;
  }

  /** Measures the storage's time. The answer is taken as the time in the middle of the call. */
  async measure(ask: () => Promise<number>): Promise<void> {
    const sent = this.#clock.monotonic();
    const time = await ask();
    this.#offset = time - (sent + this.#clock.monotonic()) / 2;
  }

  now(): number {
    return this.#offset === undefined ? this.#clock.now() : Math.round(this.#clock.monotonic() + this.#offset);
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, task: () => void): () => void {
    return this.#clock.after(ms, task);
  }

  soon(task: () => void): void {
    this.#clock.soon(task);
  }

  hold<T>(work: Promise<T>): Promise<T> {
    return this.#clock.hold(work);
  }
}
