import type { Clock } from './clock.js';
import { LinkedList, type Place } from './linked-list.js';

interface Entry {
  /** By the monotonic clock. */
  readonly at: number;
  readonly task: () => void;
}

/** A timer that runs; hand it back to stop it. */
export type RunningTimer = Place<Entry>;

/**
 * Timers that all take the same time, so the first to start is the first to end: one timer of the clock serves them all, and one that is
 * stopped in time, as nearly every one is, costs next to nothing.
 */
export class EqualTimers {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #running = new LinkedList<Entry>();
  #disarm: (() => void) | undefined;
  #looking = false;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Runs `task` once after the time of these timers. */
  start(task: () => void): RunningTimer {
    const timer = this.#running.add({ at: this.#clock.monotonic() + this.#ms, task });
    if (this.#disarm === undefined) this.#arm(this.#ms);
    return timer;
  }

  /** Stops a timer; one that has run or was stopped is left alone. */
  stop(timer: RunningTimer): void {
    this.#running.remove(timer);
    if (this.#running.size > 0 || this.#looking) return;
    // The next one is often about to start.
    this.#looking = true;
    this.#clock.soon(() => {
      this.#looking = false;
      if (this.#running.size > 0) return;
      this.#disarm?.();
      this.#disarm = undefined;
    });
  }

  #arm(ms: number): void {
    this.#disarm = this.#clock.after(ms, () => {
      this.#disarm = undefined;
      this.#ring();
    });
  }

  #ring(): void {
    const now = this.#clock.monotonic();
    for (let due = this.#running.first; due?.value !== undefined; due = this.#running.first) {
      const { at, task } = due.value;
      // The clock's timers may ring a little early.
      if (at - now >= 1) {
        if (this.#disarm === undefined) this.#arm(at - now);
        return;
      }
      this.#running.remove(due);
      task();
    }
  }
}
