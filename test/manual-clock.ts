import type { Clock } from '../packages/parley/src/runtime/clock.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #time: number;
  readonly #timers = new Set<Timer>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#time = start;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#time + ms, task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  soon(task: () => void): void {
    this.after(0, task);
  }

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on by `ms`, running what falls due in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#time = Math.max(this.#time, due.at);
      due.task();
      await settled();
    }
    this.#time = end;
    await settled();
  }
}

/** Lets every promise that can settle do so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
