import type { Clock } from '../../runtime/clock.js';
import type { ItemSource, StreamItem } from '../../task/stream-item.js';
import { type CallRecord, recordAnswer } from '../http/call-record.js';
import { endedCredentialError } from '../http/ended-credential.js';

/** The options of `ItemStream`. */
interface ItemStreamOptions {
  readonly items: AsyncIterable<StreamItem>;
  readonly clock: Clock;
  /** The longest wait for the first item. After it the stream begins without one. */
  readonly firstItemMs: number;
  /** The error for the caller, for an error after the stream began. */
  readonly failure: (thrown: unknown) => unknown;
  /** Called once, when the stream is over or could not be opened. */
  readonly closed: () => void;
  /** Calls its argument when the stream must end, because the credential of the caller ended. */
  readonly onCredentialEnd?: ((ended: () => void) => () => void) | undefined;
  /** Records the task of the first item. */
  readonly record: CallRecord;
}

type Pulled = IteratorResult<StreamItem, undefined>;

const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });

/**
 * The events of a direct call. It pulls an item only on demand, and supports one `next` at a time. `return` reaches the
 * source at once, even while an item is awaited.
 */
export class ItemStream implements ItemSource, AsyncIterable<StreamItem> {
  readonly #options: ItemStreamOptions;
  #source: ItemSource | undefined;
  #first: Promise<Pulled> | undefined;
  #waiting: PromiseWithResolvers<Pulled> | undefined;
  #fault: { readonly error: unknown } | undefined;
  #stopWatching: (() => void) | undefined;
  #began = false;

  private constructor(options: ItemStreamOptions) {
    this.#options = options;
    this.#source = options.items[Symbol.asyncIterator]() as ItemSource;
  }

  /** Resolves with the first item, or after a wait for it. Rejects with the error of a source that has no item yet. */
  static open(options: ItemStreamOptions): Promise<ItemStream> {
    return new Promise((resolve, reject) => {
      const stream = ItemStream.#make(options);
      stream.#stopWatching = options.onCredentialEnd?.(() => stream.#cut());
      const first = stream.#pull();
      stream.#first = first;
      const begin = (): void => {
        stopTimer();
        stream.#began = true;
        resolve(stream);
      };
      const stopTimer = options.clock.after(options.firstItemMs, begin);
      first.then(begin, (error: unknown) => {
        stopTimer();
        reject(error);
      });
    });
  }

  static #make(options: ItemStreamOptions): ItemStream {
    try {
      return new ItemStream(options);
    } catch (error) {
      options.closed();
      throw error;
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Pulled> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#pull();
  }

  ready(): StreamItem | undefined {
    if (!this.#began || this.#first !== undefined || this.#waiting !== undefined) return undefined;
    return this.#source?.ready?.();
  }

  return(): Promise<Pulled> {
    this.#release();
    this.#waiting?.resolve(END);
    this.#waiting = undefined;
    this.#first = undefined;
    this.#fault = undefined;
    return Promise.resolve(END);
  }

  #pull(): Promise<Pulled> {
    const source = this.#source;
    if (source === undefined) return this.#ending();
    const waiting = Promise.withResolvers<Pulled>();
    this.#waiting = waiting;
    try {
      source.next().then(this.#arrived, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
    return waiting.promise;
  }

  readonly #arrived = (result: IteratorResult<StreamItem>): void => {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    if (result.done === true) {
      this.#close();
      waiting.resolve(END);
      return;
    }
    if (!this.#began) recordAnswer(this.#options.record, result.value.event);
    waiting.resolve(result as Pulled);
  };

  readonly #failed = (thrown: unknown): void => {
    if (this.#source === undefined) return;
    this.#close();
    // An error before the first item is that of the call, which its binding has not answered yet.
    const error = this.#began ? this.#options.failure(thrown) : thrown;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#fault = { error };
    else waiting.reject(error);
  };

  /** Ends the stream with an error, and abandons its source. */
  #cut(): void {
    const source = this.#source;
    if (source === undefined) return;
    this.#failed(endedCredentialError());
    closeSource(source);
  }

  /** The end after the last item, or the pending error once. */
  #ending(): Promise<Pulled> {
    const fault = this.#fault;
    this.#fault = undefined;
    return fault === undefined ? Promise.resolve(END) : Promise.reject(fault.error);
  }

  #release(): void {
    const source = this.#source;
    this.#close();
    if (source !== undefined) closeSource(source);
  }

  #close(): void {
    if (this.#source !== undefined) this.#options.closed();
    this.#source = undefined;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}

/** Closes a source, which may still be producing an item. Errors of its clean-up are ignored. */
function closeSource(source: AsyncIterator<StreamItem>): void {
  try {
    source.return?.().then(undefined, () => {});
  } catch {
    // Ignored, like a rejection.
  }
}
