/**
 * A map for short-lived entries. A plain `Map` keeps such entries alive: its outgrown tables refer to their successors
 * and entries. Once such a table is old, only a full garbage collection frees them. This map frees an entry when it is
 * deleted.
 */
export class TransientMap<Key, Value extends object> {
  readonly #places = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#places.size;
  }

  get(key: Key): Value | undefined {
    return this.#places.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, { value });
    else place.value = value;
  }

  /** Returns true if the key was present. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    place.value = undefined;
    return this.#places.delete(key);
  }

  clear(): void {
    for (const place of this.#places.values()) place.value = undefined;
    this.#places.clear();
  }

  /** All keys, in the order of insertion. */
  keys(): IterableIterator<Key> {
    return this.#places.keys();
  }

  /** All values, in the order of insertion. */
  values(): Value[] {
    return Array.from(this.#places.values(), ({ value }) => value as Value);
  }
}
