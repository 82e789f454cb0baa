import type { IdempotencyKey, Remembered } from '../storage.js';
import type { MemorySpace, MemorySpaces, RememberedKey } from './memory-space.js';

/** What earlier messages led to, by the key of the message. Over the limit the oldest are forgotten. */
export class RememberedKeys {
  readonly #spaces: MemorySpaces;
  readonly #limit: number;
  readonly #oldestFirst = new Set<RememberedKey>();

  constructor(spaces: MemorySpaces, limit: number) {
    this.#spaces = spaces;
    this.#limit = limit;
  }

  find(space: MemorySpace | undefined, key: string, now: number): Remembered | undefined {
    const found = space?.keys.get(key);
    return found !== undefined && found.expiresAt > now ? (JSON.parse(found.text) as Remembered) : undefined;
  }

  put(space: MemorySpace, { key, expiresAt }: IdempotencyKey, entry: Remembered): void {
    const before = space.keys.get(key);
    if (before !== undefined) this.#oldestFirst.delete(before);
    const added = { space, key, expiresAt, text: JSON.stringify(entry) };
    space.keys.set(key, added);
    this.#oldestFirst.add(added);
    if (this.#oldestFirst.size <= this.#limit) return;
    const [oldest] = this.#oldestFirst;
    if (oldest !== undefined) this.#drop(oldest);
  }

  /** Forgets at most so many that have expired; how many went. */
  sweep(now: number, limit: number): number {
    let dropped = 0;
    for (const entry of this.#oldestFirst) {
      if (dropped >= limit) break;
      if (entry.expiresAt > now) continue;
      this.#drop(entry);
      dropped += 1;
    }
    return dropped;
  }

  #drop(entry: RememberedKey): void {
    this.#oldestFirst.delete(entry);
    entry.space.keys.delete(entry.key);
    this.#spaces.release(entry.space);
  }
}
