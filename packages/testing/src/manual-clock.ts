import type { Clock } from 'parley-a2a/server';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/** Number of rounds without work after which a test counts as idle. */
const QUIET_ROUNDS = 3;
/** Maximum number of rounds to wait until a test is idle. */
const MOST_ROUNDS = 10_000;

/** The options of `TestClock`. */
export interface TestClockOptions {
  /** The first time, in ms since the epoch. Default: the start of 2026. */
  readonly now?: number;
}

/**
 * A clock that only a test advances. Timers run only then, in their order. Work that waits for no time runs by itself.
 */
export class ManualClock implements Clock {
  readonly #soon: Clock['soon'];
  readonly #timers = new Map<number, Timer>();
  readonly #sleeps = new Set<number>();
  #time: number;
  #order = 0;
  #pendingSoon = 0;

  constructor(soon: Clock['soon'], { now = Date.UTC(2026, 0, 1) }: TestClockOptions = {}) {
    this.#soon = soon;
    this.#time = now;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, task: () => void): () => void {
    if (ms <= 0) return this.#atOnce(task);
    const order = this.#add(ms, task);
    return () => void this.#timers.delete(order);
  }

  soon(task: () => void): void {
    this.#pendingSoon += 1;
    this.#soon(() => {
      this.#pendingSoon -= 1;
      task();
    });
  }

  /** Does nothing: the test waits for the work. */
  hold<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  /**
   * Waits for `ms` of this clock. For agents that accept a clock.
   * @throws the reason of the signal.
   */
  sleep(ms: number, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const order = this.#add(ms, () => {
        this.#sleeps.delete(order);
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      const abort = () => {
        this.#sleeps.delete(order);
        this.#timers.delete(order);
        reject(signal?.reason);
      };
      this.#sleeps.add(order);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** The ms until the next `sleep` ends; `undefined` if there is none. */
  get nextSleepMs(): number | undefined {
    const ends = [...this.#sleeps].map((order) => this.#timers.get(order)?.at ?? this.#time);
    return ends.length === 0 ? undefined : Math.max(0, Math.min(...ends) - this.#time);
  }

  /**
   * Advances the time. Each timer runs at its time, and its consequences before the next timer.
   * @throws RangeError for a time that is no number of ms from 0.
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`ms: must be 0 or more, not ${ms}`);
    const end = this.#time + ms;
    await this.settle();
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#timers.delete(next.order);
      this.#time = Math.max(this.#time, next.at);
      next.task();
      await this.settle();
    }
    this.#time = end;
    await this.settle();
  }

  /** Waits until nothing happens any more without more time or external input. */
  async settle(): Promise<void> {
    for (let quiet = 0, round = 0; quiet < QUIET_ROUNDS && round < MOST_ROUNDS; round += 1) {
      await new Promise<void>((resolve) => this.#soon(resolve));
      quiet = this.#pendingSoon === 0 ? quiet + 1 : 0;
    }
  }

  #add(ms: number, task: () => void): number {
    this.#order += 1;
    this.#timers.set(this.#order, { at: this.#time + ms, order: this.#order, task });
    return this.#order;
  }

  #atOnce(task: () => void): () => void {
    let isCanceled = false;
    this.soon(() => {
      if (!isCanceled) task();
    });
    return () => {
      isCanceled = true;
    };
  }

  #nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers.values()) {
      if (timer.at > end) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }
}
