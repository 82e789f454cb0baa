/**
 * A map whose entries come and go all the time. A plain one of many short-lived entries costs far more than it holds: the
 * tables that it has outgrown refer to their successors and to what was in them, so once one of them has grown old,
 * everything that ever passed through the map lives until the next full garbage collection. Here what leaves is let go of.
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

  /** Whether the key was there. */
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

  /** In the order in which their keys came. */
  values(): Value[] {
    return Array.from(this.#places.values(), ({ value }) => value as Value);
  }
}
