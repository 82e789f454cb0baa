import type { Clock } from '../../runtime/clock.js';
import type { Rate, RateDecision, RateLimiter } from './rate-limiter.js';

/** The options of a limiter in memory. */
export interface MemoryRateLimiterOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Most keys in memory. */
  readonly keys: number;
}

/** The requests of one key. */
interface Window {
  count: number;
  endsAt: number;
}

/**
 * Counts in the memory of this process. The window of a key begins with its first request.
 *
 * Keys live in two generations. A key in use moves to the young one. When the young one is full, or when all windows of
 * the old one have ended, the limiter drops the old one as a whole. These are the keys that were not used for longest.
 * A dropped key begins a new window, so that no caller loses requests to another one.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #generationKeys: number;
  #young = new Map<string, Window>();
  #old = new Map<string, Window>();
  #longestMs = 0;
  #turnedAt: number;

  constructor({ clock, keys }: MemoryRateLimiterOptions) {
    this.#clock = clock;
    this.#generationKeys = Math.max(1, Math.floor(keys / 2));
    this.#turnedAt = clock.monotonic();
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  take(key: string, { requests, windowMs }: Rate): RateDecision {
    const now = this.#clock.monotonic();
    if (windowMs > this.#longestMs) this.#longestMs = windowMs;
    if (now - this.#turnedAt >= this.#longestMs) this.#turn(now);
    const window = this.#windowOf(key, now);
    if (now >= window.endsAt) {
      window.count = 0;
      window.endsAt = now + windowMs;
    }
    const allowed = window.count < requests;
    if (allowed) window.count += 1;
    return { allowed, remaining: requests - window.count, resetMs: window.endsAt - now };
  }

  #windowOf(key: string, now: number): Window {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const window = this.#old.get(key) ?? { count: 0, endsAt: 0 };
    this.#old.delete(key);
    if (this.#young.size >= this.#generationKeys) this.#turn(now);
    this.#young.set(key, window);
    return window;
  }

  #turn(now: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#turnedAt = now;
  }
}
