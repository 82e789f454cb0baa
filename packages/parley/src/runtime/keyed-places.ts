import { TransientMap } from './transient-map.js';

/** Limits of places. */
export interface KeyedPlacesOptions {
  readonly perKey: number;
  readonly total: number;
}

/** The limit that is reached. */
export type FullPlaces = 'key' | 'total';

/**
 * Places for concurrent work: a limit for each key, and a total limit. Work without a key counts only in the total. The
 * owner of a place gives it back exactly once, with the same key.
 */
export class KeyedPlaces {
  readonly limits: KeyedPlacesOptions;
  readonly #taken = new TransientMap<string, { count: number }>();
  #total = 0;

  constructor(limits: KeyedPlacesOptions) {
    this.limits = limits;
  }

  /** Number of taken places. */
  get total(): number {
    return this.#total;
  }

  /** Number of keys with a place. */
  get keys(): number {
    return this.#taken.size;
  }

  /** Takes a place. Returns the limit that is reached, if there is no place. */
  take(key: string | undefined): FullPlaces | undefined {
    const full = this.full(key);
    if (full === undefined) this.add(key);
    return full;
  }

  /** The limit that a key has reached; undefined if a place is free. */
  full(key: string | undefined): FullPlaces | undefined {
    if (this.#total >= this.limits.total) return 'total';
    const own = key === undefined ? undefined : this.#taken.get(key);
    return own !== undefined && own.count >= this.limits.perKey ? 'key' : undefined;
  }

  /** Counts work that is allowed beyond the limits. */
  add(key: string | undefined): undefined {
    this.#total += 1;
    if (key === undefined) return;
    const own = this.#taken.get(key);
    if (own === undefined) this.#taken.set(key, { count: 1 });
    else own.count += 1;
  }

  /** Gives a place back. */
  give(key: string | undefined): void {
    this.#total -= 1;
    const own = key === undefined ? undefined : this.#taken.get(key);
    if (key === undefined || own === undefined) return;
    own.count -= 1;
    if (own.count === 0) this.#taken.delete(key);
  }
}
