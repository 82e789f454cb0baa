import type { Clock } from './clock.js';
import { LinkedList, type Place } from './linked-list.js';

interface Entry {
  /** Monotonic time. */
  readonly at: number;
  readonly task: () => void;
}

/** A running timer, for `stop`. */
export type RunningTimer = Place<Entry>;

/**
 * Timers of equal length. They end in the order in which they started, so one timer of the clock serves all of them.
 * Most are stopped early, which costs almost nothing.
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

  /** Runs `task` once after the length of these timers. */
  start(task: () => void): RunningTimer {
    this.#disarm ??= this.#clock.after(this.#ms, this.#ring);
    return this.#running.add({ at: this.#clock.monotonic() + this.#ms, task });
  }

  /** Stops a timer. Does nothing if the timer has run or was stopped. */
  stop(timer: RunningTimer): void {
    this.#running.remove(timer);
    if (this.#running.size > 0 || this.#looking) return;
    // Delays the stop of the clock's timer, because the next of these timers often starts at once.
    this.#looking = true;
    this.#clock.soon(() => {
      this.#looking = false;
      if (this.#running.size > 0) return;
      this.#disarm?.();
      this.#disarm = undefined;
    });
  }

  /** Time until a timer ends, in ms; 0 if it has ended. */
  remainingMs(timer: RunningTimer): number {
    return timer.value === undefined ? 0 : Math.max(0, timer.value.at - this.#clock.monotonic());
  }

  readonly #ring = (): void => {
    this.#disarm = undefined;
    const now = this.#clock.monotonic();
    for (let due = this.#running.first; due?.value !== undefined; due = this.#running.first) {
      const { at, task } = due.value;
      // The timers of the clock may fire a little early.
      if (at - now >= 1) {
        this.#disarm ??= this.#clock.after(at - now, this.#ring);
        return;
      }
      this.#running.remove(due);
      task();
    }
  };
}
