import type { Clock } from '../runtime/clock.js';

/** Times are rounded to this many ms, so that thousands of retries need few entries. */
const GRID_MS = 100;

/** One timer for many due times. Adding the same time again costs nothing. */
export class DueTimes {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  readonly #times = new Set<number>();
  #armed: { readonly at: number; readonly stop: () => void } | undefined;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Adds a time, in ms from now. */
  add(inMs: number): void {
    const at = Math.ceil((this.#clock.monotonic() + Math.max(0, inMs)) / GRID_MS) * GRID_MS;
    this.#times.add(at);
    if (this.#armed === undefined || at < this.#armed.at) this.#arm(at);
  }

  /** Forgets all times. */
  clear(): void {
    this.#armed?.stop();
    this.#armed = undefined;
    this.#times.clear();
  }

  #arm(at: number): void {
    this.#armed?.stop();
    const stop = this.#clock.after(Math.max(1, at - this.#clock.monotonic()), () => {
      this.#armed = undefined;
      for (const time of this.#times) if (time <= at) this.#times.delete(time);
      let next = Number.POSITIVE_INFINITY;
      for (const time of this.#times) next = Math.min(next, time);
      if (next < Number.POSITIVE_INFINITY) this.#arm(next);
      this.#onDue();
    });
    this.#armed = { at, stop };
  }
}
