import type { A2AError, StreamResponse } from 'parley-a2a';
import { eventBytes, type ItemSource } from 'parley-a2a/binding-kit';
import { ignoreRejection, isInterrupted, isTerminal } from 'parley-a2a/kit';
import type { StreamItem } from 'parley-a2a/server';
import type { FeedItem } from './session-types.js';
import { toWireError } from './wire-errors.js';
import { toWire, toWireFromText } from './wire-values.js';

/** Approximate number of characters of events that are sent ahead of the peer's reads. */
const AHEAD_LENGTH = 16_384;

/** The parts of a feed. */
interface FeedSourceOptions {
  readonly items: ItemSource;
  /** The JSON of one event. */
  readonly textOf: (item: StreamItem) => string;
  /** True if that JSON has the form of the model, so that most events need not be encoded. */
  readonly isModel: boolean;
  /** The error for the caller. */
  readonly errorOf: (thrown: unknown) => A2AError;
  /** True if the feed ends with a turn, and not only with its task. */
  readonly followsTurn: boolean;
  /** The error of a feed that ends before its turn or task. `undefined`: none. */
  readonly cutShort: () => A2AError | undefined;
  /** Called once, at the end. */
  readonly onEnd: () => void;
}

/** The events of one stream. A reader pulls them, and nothing is buffered here. */
export class FeedSource {
  readonly #options: FeedSourceOptions;
  #items: ItemSource | undefined;
  #fault: A2AError | undefined;
  /** True if the last item is one that ends a feed. */
  #isWhole = false;
  /** Approximate characters of the JSON of the last item. */
  lastLength = 0;

  constructor(options: FeedSourceOptions) {
    this.#options = options;
    this.#items = options.items;
  }

  /** The next item; `undefined` at the end. Rejects with the error for the peer. */
  async next(): Promise<FeedItem | undefined> {
    const items = this.#items;
    if (items === undefined) return this.#ending();
    try {
      const next = await items.next();
      if (next.done !== true) return this.#itemOf(next.value);
    } catch (thrown) {
      if (this.#items !== undefined) this.#fault = this.#options.errorOf(thrown);
    }
    if (this.#items !== undefined) {
      if (!this.#isWhole) this.#fault ??= this.#options.cutShort();
      this.#close();
    }
    return this.#ending();
  }

  /** The next item, if it is ready and no `next` waits. */
  ready(): FeedItem | undefined {
    const item = this.#items?.ready?.();
    if (item === undefined) return undefined;
    try {
      return this.#itemOf(item);
    } catch (thrown) {
      this.stop(this.#options.errorOf(thrown));
      return undefined;
    }
  }

  /** The events for a peer, with flow control. A read also returns further events that are ready. */
  stream(): ReadableStream<FeedItem> {
    return new ReadableStream<FeedItem>(
      {
        pull: async (controller) => {
          let item = await this.next();
          if (item === undefined) return controller.close();
          for (let length = 0; item !== undefined; ) {
            controller.enqueue(item);
            length += this.lastLength;
            item = length < AHEAD_LENGTH ? this.ready() : undefined;
          }
        },
        cancel: () => this.stop(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Ends the feed, with an error if there is one. A waiting pull ends at once. The task continues. */
  stop(fault?: A2AError): void {
    const items = this.#items;
    if (items === undefined) return;
    this.#fault = fault;
    this.#close();
    if (items.return !== undefined) ignoreRejection(items.return());
  }

  #close(): void {
    this.#items = undefined;
    this.#options.onEnd();
  }

  #ending(): undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault !== undefined) throw toWireError(fault);
    return undefined;
  }

  #itemOf(item: StreamItem): FeedItem {
    const { seq = 0, reset } = item;
    const event = this.#wireOf(item) as FeedItem['event'];
    this.#isWhole = isLast(item.event, this.#options.followsTurn);
    return reset ? { seq, event, reset } : { seq, event };
  }

  /**
   * Encodes an event for the peer. An event with a task is made from its JSON, because a stored task is a class
   * instance.
   */
  #wireOf(item: StreamItem): unknown {
    const { textOf, isModel } = this.#options;
    const { event } = item;
    if (isModel && (event.artifactUpdate !== undefined || event.statusUpdate !== undefined)) {
      this.lastLength = eventBytes(event);
      return toWire(event);
    }
    const text = textOf(item);
    this.lastLength = text.length;
    return toWireFromText(text);
  }
}

/** True for the last event of a feed. */
function isLast(event: StreamResponse, followsTurn: boolean): boolean {
  if (event.message !== undefined) return true;
  if (event.artifactUpdate !== undefined) return false;
  const { state } = event.task !== undefined ? event.task.status : event.statusUpdate.status;
  return isTerminal(state) || (followsTurn && isInterrupted(state));
}
