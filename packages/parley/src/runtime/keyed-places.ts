import { TransientMap } from './transient-map.js';

/** The numbers of places. */
export interface KeyedPlacesOptions {
  readonly perKey: number;
  readonly total: number;
}

/** The limit that leaves no place. */
export type FullPlaces = 'key' | 'total';

/**
 * Places for work that goes on at the same time: a number for each key, and a number in all. Work without a key counts
 * in all only. The owner of a place gives it back exactly once, with the same key.
 */
export class KeyedPlaces {
  readonly limits: KeyedPlacesOptions;
  readonly #taken = new TransientMap<string, { count: number }>();
  #total = 0;

  constructor(limits: KeyedPlacesOptions) {
    this.limits = limits;
  }

  /** Places that are taken. */
  get total(): number {
    return this.#total;
  }

  /** Keys with a place. */
  get keys(): number {
    return this.#taken.size;
  }

  /** Takes a place. Returns the limit that is reached, if there is no place. */
  take(key: string | undefined): FullPlaces | undefined {
    const full = this.full(key);
    if (full === undefined) this.add(key);
    return full;
  }

  /** The limit that leaves no place for a key. */
  full(key: string | undefined): FullPlaces | undefined {
    if (this.#total >= this.limits.total) return 'total';
    const own = key === undefined ? undefined : this.#taken.get(key);
    return own !== undefined && own.count >= this.limits.perKey ? 'key' : undefined;
  }

  /** Counts work that goes on whatever the limits say. */
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
