import { InvalidAgentResponseError } from 'parley-a2a/binding-kit';
import { isObject } from 'parley-a2a/kit';
import type { RemoteFeed } from './client-remotes.js';

/** A received item of a feed, whose event is not decoded. */
export interface ReceivedItem {
  /** Absent for a direct message. */
  readonly seq: number | undefined;
  readonly event: unknown;
}

/** The options of `ClientFeed`. */
interface ClientFeedOptions {
  /** Ends the feed with its reason. */
  readonly signal: AbortSignal | undefined;
  /** The error for the reader, for an error of the stream. */
  readonly failure: (error: unknown) => unknown;
  /** Called once, when the feed is over. */
  readonly onClose: () => void;
}

type Pulled = IteratorResult<ReceivedItem | undefined, undefined>;

const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
const SIGN_OF_LIFE: Pulled = Object.freeze({ value: undefined, done: false });
const nothing = (): void => {};

/**
 * The items of a feed. It reads one on demand, and serves one reader at a time. `undefined` instead of an item is a
 * keep-alive. `return` ends the feed at once, but never the task.
 */
export class ClientFeed implements AsyncIterator<ReceivedItem | undefined, undefined> {
  readonly #feed: RemoteFeed;
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #options: ClientFeedOptions;
  /** The item that arrived after its read got a keep-alive. */
  #arrived: Pulled | undefined;
  #fault: { readonly error: unknown } | undefined;
  #waiting: PromiseWithResolvers<Pulled> | undefined;
  #isReading = false;
  #isOver = false;

  private constructor(feed: RemoteFeed, options: ClientFeedOptions) {
    this.#feed = feed;
    this.#reader = feed.events.getReader();
    this.#options = options;
    // The end of the session rejects it, too. Readers get that error from their own read.
    this.#reader.closed.catch(nothing);
    options.signal?.addEventListener('abort', this.#aborted, { once: true });
  }

  /** @throws InvalidAgentResponseError for an answer that is no feed, after releasing it. */
  static of(answer: unknown, options: ClientFeedOptions): ClientFeed {
    if (isFeed(answer)) return new ClientFeed(answer, options);
    disposeOf(answer);
    throw new InvalidAgentResponseError('The agent answered a streaming call without a feed');
  }

  next(): Promise<Pulled> {
    const arrived = this.#arrived;
    if (arrived !== undefined) {
      this.#arrived = undefined;
      return Promise.resolve(arrived);
    }
    if (this.#isOver) return this.#ending();
    const waiting = Promise.withResolvers<Pulled>();
    this.#waiting = waiting;
    if (!this.#isReading) this.#read();
    return waiting.promise;
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#arrived = undefined;
    this.#fault = undefined;
    this.#close();
    this.#waiting?.resolve(END);
    this.#waiting = undefined;
    return END;
  }

  /** Resolves a waiting read with a keep-alive. */
  keepAlive(): void {
    this.#waiting?.resolve(SIGN_OF_LIFE);
    this.#waiting = undefined;
  }

  #read(): void {
    this.#isReading = true;
    this.#reader.read().then(this.#taken, this.#failed);
  }

  readonly #taken = ({ done, value }: { readonly done: boolean; readonly value?: unknown }): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    if (done) {
      this.#close();
      return this.#give(END);
    }
    if (!isObject(value) || !isObject(value.event)) {
      return this.#failed(new InvalidAgentResponseError('An item of a feed has no event'));
    }
    const { seq, event } = value;
    this.#give({ value: { seq: Number.isSafeInteger(seq) ? (seq as number) : undefined, event }, done: false });
  };

  readonly #failed = (thrown: unknown): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    const error = this.#options.failure(thrown);
    this.#close();
    this.#reject(error);
  };

  readonly #aborted = (): void => {
    if (this.#isOver) return;
    this.#close();
    this.#reject(this.#options.signal?.reason);
  };

  #give(result: Pulled): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting.resolve(result);
    else if (result.done !== true) this.#arrived = result;
  }

  #reject(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#fault = { error };
    else waiting.reject(error);
  }

  /** The end after the last item, or the pending error once. */
  #ending(): Promise<Pulled> {
    const fault = this.#fault;
    this.#fault = undefined;
    return fault === undefined ? Promise.resolve(END) : Promise.reject(fault.error);
  }

  /**
   * Canceling the reader of a quiet stream reaches the agent only at its next write. The subscription reaches it at
   * once.
   */
  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.signal?.removeEventListener('abort', this.#aborted);
    this.#reader.cancel().catch(nothing);
    disposeOf(this.#feed.subscription);
    disposeOf(this.#feed);
    this.#options.onClose();
  }
}

function isFeed(answer: unknown): answer is RemoteFeed {
  return isObject(answer) && answer.events instanceof ReadableStream;
}

/** Releases a capability, or an answer with capabilities. A closed session has released them already. */
export function disposeOf(value: unknown): void {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
  const dispose = isHolder ? (value as Partial<Disposable>)[Symbol.dispose] : undefined;
  if (typeof dispose !== 'function') return;
  try {
    dispose.call(value);
  } catch {
    // The session has released it already.
  }
}
