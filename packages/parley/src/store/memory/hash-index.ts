/** No slot, or no place in an index. */
export const NONE = -1;

const SMALLEST = 256;

/**
 * Finds slots by hash. Hash and slot of an entry are adjacent, so that a failed search reads one cache line. Several
 * entries may have the same hash: the caller compares their content.
 */
export class HashIndex {
  /** The hash and the slot + 1 of each entry; two zeros where there is none. */
  #entries = new Int32Array(2 * SMALLEST);
  #size = 0;

  /** The place of the first entry with a hash, or `NONE`. */
  first(hash: number): number {
    return this.#search(hash, hash & this.#mask);
  }

  /** The place of the next entry with the same hash, or `NONE`. */
  next(place: number): number {
    return this.#search(this.#entries[2 * place] as number, (place + 1) & this.#mask);
  }

  slotAt(place: number): number {
    return (this.#entries[2 * place + 1] as number) - 1;
  }

  add(hash: number, slot: number): void {
    this.#size += 1;
    if (4 * this.#size > this.#entries.length) this.#grow();
    this.#put(hash, slot + 1);
  }

  /** Removes the entry of a slot. Later entries move up, so that no search ends too early. */
  remove(hash: number, slot: number): void {
    const entries = this.#entries;
    const mask = this.#mask;
    let hole = hash & mask;
    while (entries[2 * hole + 1] !== slot + 1) hole = (hole + 1) & mask;
    for (let place = (hole + 1) & mask; entries[2 * place + 1] !== 0; place = (place + 1) & mask) {
      const home = (entries[2 * place] as number) & mask;
      if (((place - home) & mask) < ((place - hole) & mask)) continue;
      entries[2 * hole] = entries[2 * place] as number;
      entries[2 * hole + 1] = entries[2 * place + 1] as number;
      hole = place;
    }
    entries[2 * hole] = 0;
    entries[2 * hole + 1] = 0;
    this.#size -= 1;
  }

  clear(): void {
    this.#entries = new Int32Array(2 * SMALLEST);
    this.#size = 0;
  }

  get #mask(): number {
    return this.#entries.length / 2 - 1;
  }

  #search(hash: number, from: number): number {
    const entries = this.#entries;
    const mask = this.#mask;
    for (let place = from; entries[2 * place + 1] !== 0; place = (place + 1) & mask) {
      if (entries[2 * place] === hash) return place;
    }
    return NONE;
  }

  #put(hash: number, stored: number): void {
    const entries = this.#entries;
    const mask = this.#mask;
    let place = hash & mask;
    while (entries[2 * place + 1] !== 0) place = (place + 1) & mask;
    entries[2 * place] = hash;
    entries[2 * place + 1] = stored;
  }

  #grow(): void {
    const old = this.#entries;
    this.#entries = new Int32Array(2 * old.length);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) this.#put(old[at] as number, old[at + 1] as number);
    }
  }
}
