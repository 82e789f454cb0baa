import type { Clock } from '../../runtime/clock.js';
import type { Rate, RateDecision, RateLimiter } from './rate-limiter.js';
import { RecentWindows, type RecentWindowsOptions } from './recent-windows.js';

/** The requests of one key. */
interface Window {
  count: number;
  endsAt: number;
}

/** Counts in the memory of this process. The window of a key begins with its first request. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #windows: RecentWindows<Window>;

  constructor(options: RecentWindowsOptions) {
    this.#clock = options.clock;
    this.#windows = new RecentWindows(options);
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#windows.size;
  }

  take(key: string, { requests, windowMs }: Rate): RateDecision {
    const now = this.#clock.monotonic();
    const window = this.#windows.of(key, { windowMs, now }, newWindow);
    if (now >= window.endsAt) {
      window.count = 0;
      window.endsAt = now + windowMs;
    }
    const allowed = window.count < requests;
    if (allowed) window.count += 1;
    return { allowed, remaining: requests - window.count, resetMs: window.endsAt - now };
  }
}

function newWindow(): Window {
  return { count: 0, endsAt: 0 };
}
