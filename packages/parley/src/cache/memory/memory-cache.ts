import type { Clock } from '../../runtime/clock.js';
import type { AnswerCache } from '../answer-cache.js';

/** Options of a cache in memory. */
export interface MemoryCacheOptions {
  readonly clock: Clock;
  /** Number of texts. Beyond it the least recently used one is removed. Default 1,000. */
  readonly entries?: number;
}

interface Entry {
  readonly text: string;
  /** Monotonic time. */
  readonly until: number;
}

/** A cache in the memory of this process. */
export class MemoryCache implements AnswerCache {
  readonly #clock: Clock;
  readonly #limit: number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor({ clock, entries = 1_000 }: MemoryCacheOptions) {
    this.#clock = clock;
    this.#limit = entries;
  }

  async get(key: string): Promise<string | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.until <= this.#clock.monotonic()) return undefined;
    this.#entries.set(key, entry);
    return entry.text;
  }

  async set(key: string, text: string, ttlMs: number): Promise<void> {
    this.#entries.delete(key);
    this.#entries.set(key, { text, until: this.#clock.monotonic() + ttlMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#limit && oldest !== undefined) this.#entries.delete(oldest);
  }

  async invalidate(pattern: string): Promise<number> {
    const { globMatcher } = await import('../glob.js');
    const matches = globMatcher(pattern);
    const now = this.#clock.monotonic();
    let dropped = 0;
    for (const [key, { until }] of this.#entries) {
      if (!matches(key)) continue;
      this.#entries.delete(key);
      if (until > now) dropped++;
    }
    return dropped;
  }

  async close(): Promise<void> {
    this.#entries.clear();
  }
}
