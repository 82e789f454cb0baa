import type { Clock } from '../../runtime/clock.js';

/** The options of a table of windows. */
export interface RecentWindowsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Most keys in memory. */
  readonly keys: number;
}

/**
 * Windows of time by key, in bounded memory. Keys live in two generations. A key in use moves to the young one. When
 * the young one is full, or when all windows of the old one have ended, the table drops the old one as a whole. These
 * are the keys that were not used for longest. A dropped key begins a new window, so that no caller loses requests to
 * another one.
 */
export class RecentWindows<Window> {
  readonly #generationKeys: number;
  #young = new Map<string, Window>();
  #old = new Map<string, Window>();
  #longestMs = 0;
  #turnedAt: number;

  constructor({ clock, keys }: RecentWindowsOptions) {
    this.#generationKeys = Math.max(1, Math.floor(keys / 2));
    this.#turnedAt = clock.monotonic();
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** The window of a key, or a new one. `now` is the monotonic time. */
  of(key: string, { windowMs, now }: { readonly windowMs: number; readonly now: number }, make: () => Window): Window {
    if (windowMs > this.#longestMs) this.#longestMs = windowMs;
    if (now - this.#turnedAt >= this.#longestMs) this.#turn(now);
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const window = this.#old.get(key) ?? make();
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
