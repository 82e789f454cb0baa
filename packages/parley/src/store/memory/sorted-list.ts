const BLOCK = 512;

/**
 * Distinct items in ascending order, in blocks, so that insertion, removal and search are fast with 100,000 items. The
 * sort order of an item must not change while it is in the list.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  #blocks: T[][] = [];
  #size = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    this.#size += 1;
    const at = this.#blockFor((other) => this.#compare(other, item) < 0);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#addLast(item);
      return;
    }
    block.splice(
      firstNot(block, (other) => this.#compare(other, item) < 0),
      0,
      item,
    );
    if (block.length > 2 * BLOCK) this.#blocks.splice(at + 1, 0, block.splice(BLOCK));
  }

  /** Returns true if the item was in the list. */
  remove(item: T): boolean {
    const at = this.#blockFor((other) => this.#compare(other, item) < 0);
    const block = this.#blocks[at];
    if (block === undefined) return false;
    const index = firstNot(block, (other) => this.#compare(other, item) < 0);
    if (block[index] !== item) return false;
    block.splice(index, 1);
    if (block.length === 0) this.#blocks.splice(at, 1);
    this.#size -= 1;
    return true;
  }

  *ascending(): Generator<T, void> {
    for (const block of this.#blocks) yield* block;
  }

  /** Items for which `before` is true, last one first. `before` must be true for a prefix of the list only. */
  *descending(before: (item: T) => boolean = () => true): Generator<T, void> {
    let at = this.#blockFor(before);
    const partial = this.#blocks[at];
    if (partial !== undefined) {
      for (let index = firstNot(partial, before) - 1; index >= 0; index -= 1) yield partial[index] as T;
    }
    for (at -= 1; at >= 0; at -= 1) {
      const block = this.#blocks[at] as T[];
      for (let index = block.length - 1; index >= 0; index -= 1) yield block[index] as T;
    }
  }

  /** Number of items for which `before` is true. */
  count(before: (item: T) => boolean): number {
    const at = this.#blockFor(before);
    let count = 0;
    for (const block of this.#blocks.slice(0, at)) count += block.length;
    const partial = this.#blocks[at];
    return partial === undefined ? count : count + firstNot(partial, before);
  }

  #addLast(item: T): void {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.length < BLOCK) last.push(item);
    else this.#blocks.push([item]);
  }

  /** Returns the index of the first block with an item for which `before` is false. */
  #blockFor(before: (item: T) => boolean): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle] as T[];
      if (before(block[block.length - 1] as T)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function firstNot<T>(block: readonly T[], before: (item: T) => boolean): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(block[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
