import type { EventBatches, OpenedStream, ReceivedEvent } from './client-transport.js';

type Batch = IteratorResult<readonly ReceivedEvent[], undefined>;

const END: Batch = Object.freeze({ value: undefined, done: true });

/**
 * The batches of a stream that opens when the first one is read. Later reads call the stream directly, because a stream
 * may deliver thousands of batches a second.
 */
export class LateBatches implements EventBatches, AsyncIterator<readonly ReceivedEvent[], undefined> {
  readonly #open: () => Promise<OpenedStream>;
  #events: OpenedStream['events'] | undefined;
  #isClosed = false;

  constructor(open: () => Promise<OpenedStream>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Batch> {
    return this.#events === undefined ? this.#first() : this.#events.next();
  }

  async return(): Promise<Batch> {
    this.#isClosed = true;
    await this.#events?.return?.();
    return END;
  }

  async #first(): Promise<Batch> {
    if (this.#isClosed) return END;
    const { events, first } = await this.#open();
    this.#events = events;
    if (!this.#isClosed) return first;
    await events.return?.();
    return END;
  }
}
