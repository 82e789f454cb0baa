import type { CacheFigures } from '../telemetry/server-figures.js';
import type { AnswerCache } from './answer-cache.js';

/** What is kept where, and for how long. */
export interface ReadThroughOptions {
  readonly cache: AnswerCache;
  readonly ttlMs: number;
}

/**
 * Texts that are made when the cache does not have them. What a cache cannot do is no reason to fail: the text is made then. A
 * caller waits for one call of the cache at most, to read; nobody waits for it to write.
 */
export class ReadThrough {
  readonly #cache: AnswerCache;
  readonly #ttlMs: number;
  #hits = 0;
  #misses = 0;
  #operations = 0;

  constructor({ cache, ttlMs }: ReadThroughOptions) {
    this.#cache = cache;
    this.#ttlMs = ttlMs;
  }

  get figures(): CacheFigures {
    return { hits: this.#hits, misses: this.#misses, operations: this.#operations };
  }

  /** The text under a key, made if it is not there. */
  async text(key: string, make: () => string | Promise<string>): Promise<string> {
    const kept = await this.#read(key);
    if (kept !== undefined) return kept;
    const made = await make();
    this.keep(key, made).catch(() => {});
    return made;
  }

  /**
   * Keeps a text, in place of what was there.
   * @throws CacheError
   */
  keep(key: string, text: string): Promise<void> {
    this.#operations++;
    return this.#cache.set(key, text, this.#ttlMs);
  }

  /**
   * Drops what a pattern matches and tells how many that were.
   * @throws CacheError
   */
  invalidate(pattern: string): Promise<number> {
    this.#operations++;
    return this.#cache.invalidate(pattern);
  }

  async #read(key: string): Promise<string | undefined> {
    this.#operations++;
    const kept = await this.#cache.get(key).catch(() => undefined);
    if (kept === undefined) this.#misses++;
    else this.#hits++;
    return kept;
  }
}
