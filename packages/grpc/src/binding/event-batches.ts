import type { ClientReadableStream } from '@grpc/grpc-js';
import type { ReceivedEvent } from 'parley-a2a/binding-kit';

/** The options of `EventBatchReader`. */
interface EventBatchReaderOptions {
  readonly rpc: ClientReadableStream<Buffer>;
  readonly signal: AbortSignal | undefined;
  /** Decodes a message; undefined: it is skipped. Its error is thrown after the events before it have been read. */
  readonly decode: (message: Buffer) => ReceivedEvent | undefined;
  /** The error for the caller, for an error of the call. */
  readonly failure: (error: Error) => unknown;
  /** Called once, when the call is over. */
  readonly onClose: () => void;
}

type Batch = IteratorResult<readonly ReceivedEvent[], undefined>;

/** Maximum number of messages in a batch, to bound the wait for the first one. */
const MOST_MESSAGES = 64;
const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });

/**
 * Reads the events of a call. Messages that arrived together come in one batch; messages without an event yield an
 * empty batch, as a keep-alive. If the reader is slow, reading pauses, and HTTP/2 flow control slows the agent down.
 * Serves one reader at a time.
 */
export class EventBatchReader implements AsyncIterator<readonly ReceivedEvent[], undefined> {
  readonly #options: EventBatchReaderOptions;
  #fault: { readonly error: unknown } | undefined;
  #isOver = false;
  #hasEnded = false;
  #waiting: PromiseWithResolvers<Batch> | undefined;

  constructor(options: EventBatchReaderOptions) {
    this.#options = options;
    const { rpc } = options;
    rpc.on('readable', this.#wake);
    rpc.on('end', () => {
      this.#hasEnded = true;
      this.#wake();
    });
    rpc.on('error', (error) => {
      this.#fault ??= { error: options.failure(error) };
      this.#wake();
    });
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  next(): Promise<Batch> {
    try {
      const batch = this.#takeBatch();
      if (batch !== undefined) return Promise.resolve(batch);
    } catch (error) {
      return Promise.reject(error);
    }
    this.#waiting = Promise.withResolvers<Batch>();
    return this.#waiting.promise;
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#fault = undefined;
    this.#close();
    this.#options.rpc.cancel();
    this.#waiting?.resolve(END);
    this.#waiting = undefined;
    return Promise.resolve(END);
  }

  /** The next batch, or the end; undefined if neither is ready. */
  #takeBatch(): Batch | undefined {
    const { rpc, signal, decode } = this.#options;
    if (this.#isOver) return this.#ending();
    if (signal?.aborted) {
      this.#close();
      throw signal.reason;
    }
    const events: ReceivedEvent[] = [];
    let count = 0;
    for (; count < MOST_MESSAGES; count++) {
      const message: Buffer | null = rpc.read();
      if (message === null) break;
      try {
        const event = decode(message);
        if (event !== undefined) events.push(event);
      } catch (error) {
        this.#fault = { error };
        this.#close();
        rpc.cancel();
        break;
      }
    }
    if (events.length > 0 || (count > 0 && !this.#isOver)) return { value: events, done: false };
    if (this.#fault === undefined && !this.#hasEnded) return undefined;
    this.#close();
    return this.#ending();
  }

  /** The end after the last event, or the pending error once. */
  #ending(): IteratorReturnResult<undefined> {
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault !== undefined) throw fault.error;
    return END;
  }

  readonly #wake = (): void => {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    try {
      const batch = this.#takeBatch();
      if (batch === undefined) return;
      this.#waiting = undefined;
      waiting.resolve(batch);
    } catch (error) {
      this.#waiting = undefined;
      waiting.reject(error);
    }
  };

  readonly #abort = (): void => {
    this.#options.rpc.cancel();
    this.#wake();
  };

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#options.onClose();
  }
}
