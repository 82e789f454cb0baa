import type { ItemSource, StreamItem } from '../../task/stream-item.js';

const DONE: IteratorResult<StreamItem, undefined> = { done: true, value: undefined };

/**
 * A stream that opens at its first read. An unread stream costs nothing, and an error of opening is the error of its
 * first event. `return` releases everything, even before the stream is open.
 */
export class DeferredStream implements AsyncIterable<StreamItem>, ItemSource {
  readonly #open: () => Promise<ItemSource>;
  #opening: Promise<ItemSource> | undefined;
  #inner: ItemSource | undefined;
  #left = false;

  constructor(open: () => Promise<ItemSource>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamItem, undefined>> {
    if (this.#inner) return this.#inner.next();
    return this.#first();
  }

  ready(): StreamItem | undefined {
    return this.#inner?.ready?.();
  }

  async return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#left = true;
    await this.#inner?.return?.();
    return DONE;
  }

  async #first(): Promise<IteratorResult<StreamItem, undefined>> {
    if (this.#left) return DONE;
    this.#opening ??= this.#open();
    const inner = await this.#opening;
    this.#inner = inner;
    if (this.#left) {
      await inner.return?.();
      return DONE;
    }
    return inner.next();
  }
}
