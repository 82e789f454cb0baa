import type { CacheFigures } from '../telemetry/server-figures.js';
import type { AnswerCache } from './answer-cache.js';

/** Options of a read-through cache. */
interface ReadThroughOptions {
  readonly cache: AnswerCache;
  readonly ttlMs: number;
}

/**
 * Texts that are made if the cache does not have them. If the cache fails, the text is made too. A caller waits for at
 * most one read of the cache, and never for a write.
 */
export class ReadThrough {
  /** The lifetime of a text in the cache. */
  readonly ttlMs: number;
  readonly #cache: AnswerCache;
  #hits = 0;
  #misses = 0;
  #operations = 0;

  constructor({ cache, ttlMs }: ReadThroughOptions) {
    this.#cache = cache;
    this.ttlMs = ttlMs;
  }

  get figures(): CacheFigures {
    return { hits: this.#hits, misses: this.#misses, operations: this.#operations };
  }

  /** The text of a key, made if it is not in the cache. */
  async text(key: string, make: () => string | Promise<string>): Promise<string> {
    const kept = await this.#read(key);
    if (kept !== undefined) return kept;
    const made = await make();
    this.keep(key, made).catch(() => {});
    return made;
  }

  /**
   * Stores a text and replaces the previous one.
   * @throws CacheError
   */
  keep(key: string, text: string): Promise<void> {
    this.#operations++;
    return this.#cache.set(key, text, this.ttlMs);
  }

  /**
   * Deletes the keys that match a pattern. Resolves to their number.
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
