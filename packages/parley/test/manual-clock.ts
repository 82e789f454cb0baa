import type { Clock } from '../src/runtime/clock.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/** A clock that stands still until a test advances it. `soon` tasks and timers run only then, in order. */
export class ManualClock implements Clock {
  #time = Date.UTC(2026, 0, 1);
  #order = 0;
  #soon: (() => void)[] = [];
  #timers = new Map<number, Timer>();

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, task: () => void): () => void {
    this.#order += 1;
    const order = this.#order;
    this.#timers.set(order, { at: this.#time + ms, order, task });
    return () => this.#timers.delete(order);
  }

  soon(task: () => void): void {
    this.#soon.push(task);
  }

  hold<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  get pendingSoon(): number {
    return this.#soon.length;
  }

  /** Runs the first `soon` task, if there is one. */
  async step(): Promise<void> {
    this.#soon.shift()?.();
    await settlePromises();
  }

  /** Runs all promise reactions and `soon` tasks without advancing the time. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await settlePromises();
      const tasks = this.#soon;
      this.#soon = [];
      for (const task of tasks) task();
      quiet = tasks.length === 0 ? quiet + 1 : 0;
    }
  }

  /** Advances the time. A timer runs at its time, and its consequences before the next timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    await this.settle();
    for (;;) {
      const next = [...this.#timers.values()]
        .filter(({ at }) => at <= end)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!next) break;
      this.#timers.delete(next.order);
      this.#time = Math.max(this.#time, next.at);
      next.task();
      await this.settle();
    }
    this.#time = end;
    await this.settle();
  }
}

/** Turns of the microtask queue, enough for any chain of promises in the engine. */
export async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
}
