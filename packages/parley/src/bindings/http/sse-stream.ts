import type { Clock } from '../../runtime/clock.js';
import type { ItemSource, StreamItem } from '../../task/stream-item.js';
import { type CallRecord, recordAnswer } from './call-record.js';
import { endedCredentialError } from './ended-credential.js';
import { EVENT_STREAM_TYPE } from './media-type.js';

/** The headers of every event stream. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': EVENT_STREAM_TYPE,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
});

/** One frame. JSON has no line breaks. */
export function eventFrame(json: string, seq?: number): string {
  return seq === undefined ? `data: ${json}\n\n` : `id: ${seq}\ndata: ${json}\n\n`;
}

const HEARTBEAT = ': keep-alive\n\n';
/** Ready frames are joined up to this length, which is one write to a socket. */
const JOIN_LENGTH = 16 * 1024;
const END: IteratorResult<string> = Object.freeze({ value: undefined, done: true });

/** The frames of one binding. */
interface EventFrames {
  /** One event as whole frames. */
  event(item: StreamItem): string;
  /** The last frame, for an error after the start of the stream (Spec §3.5.2). */
  failure(error: unknown): string;
}

/** The options of `SseStream`. */
interface SseStreamOptions {
  readonly items: AsyncIterable<StreamItem>;
  readonly frames: EventFrames;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** See `ExchangeRequest`. Default: microtasks, as long as items arrive. */
  readonly afterPromises?: ((task: () => void) => void) | undefined;
  /** Called once, when the stream is over or could not be opened. */
  readonly closed?: (() => void) | undefined;
  /** Calls its argument when the stream must end, because the credential of the client ended. */
  readonly onCredentialEnd?: ((ended: () => void) => () => void) | undefined;
  /** Records the task of the first event. */
  readonly record?: CallRecord | undefined;
}

/**
 * The body of a stream. It pulls its items only on demand, and sends a comment after a time of silence. Only this class
 * joins frames: a host writes each string unchanged. `return` reaches the source at once, even while an item is
 * awaited.
 */
export class SseStream implements AsyncIterableIterator<string> {
  readonly #options: SseStreamOptions;
  #source: ItemSource | undefined;
  #ready = '';
  #items = 0;
  /** The number of items at the last check. */
  #seen = 0;
  #pulling = false;
  #gathering = false;
  #waiting: ((result: IteratorResult<string>) => void) | undefined;
  #opening: PromiseWithResolvers<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;
  #spoke: number;
  readonly #afterPromises: (task: () => void) => void;

  private constructor(options: SseStreamOptions) {
    this.#options = options;
    this.#source = options.items[Symbol.asyncIterator]();
    this.#spoke = options.clock.monotonic();
    // Some hosts refuse to run the global function as a method of another object.
    this.#afterPromises = options.afterPromises ?? ((task) => queueMicrotask(task));
  }

  /**
   * Resolves once the first item arrives, or after a time of silence, when the peer needs a comment. Rejects with the
   * error of the source before its first item.
   */
  static async open(options: SseStreamOptions): Promise<SseStream> {
    let stream: SseStream;
    try {
      stream = new SseStream(options);
    } catch (error) {
      options.closed?.();
      throw error;
    }
    const opening = Promise.withResolvers<void>();
    stream.#opening = opening;
    stream.#watch();
    stream.#stopWatching = options.onCredentialEnd?.(() => stream.#cut());
    stream.#pull();
    await opening.promise;
    return stream;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<string>> {
    const { promise, resolve } = Promise.withResolvers<IteratorResult<string>>();
    const earlier = this.#waiting;
    if (earlier !== undefined) {
      const both = (result: IteratorResult<string>) => {
        earlier(result);
        resolve(this.next());
      };
      this.#waiting = both;
      return promise;
    }
    this.#waiting = resolve;
    if (this.#source === undefined) {
      this.#settle();
      return promise;
    }
    this.#watch();
    if (!this.#pulling) this.#pull();
    if (this.#ready !== '') this.#gather();
    return promise;
  }

  return(): Promise<IteratorResult<string>> {
    const source = this.#source;
    this.#close();
    this.#ready = '';
    this.#settle();
    if (source?.return !== undefined) release(source);
    return Promise.resolve(END);
  }

  #pull(): void {
    const source = this.#source;
    if (source === undefined) return;
    this.#pulling = true;
    try {
      source.next().then(this.#arrived, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #arrived = (result: IteratorResult<StreamItem>): void => {
    this.#pulling = false;
    const source = this.#source;
    if (source === undefined) return;
    if (result.done === true) {
      this.#close();
    } else {
      try {
        this.#frame(result.value, source);
      } catch (error) {
        this.#failed(error);
        release(source);
        return;
      }
    }
    if (this.#source === undefined || this.#opening !== undefined) this.#settle();
    else this.#gather();
  };

  /** Makes frames of an item, and of those that are there behind it: they need no promise. */
  #frame(first: StreamItem, source: ItemSource): void {
    const { record, frames } = this.#options;
    if (record !== undefined && this.#items === 0) recordAnswer(record, first.event);
    for (let item: StreamItem | undefined = first; item !== undefined; ) {
      this.#ready += frames.event(item);
      this.#items++;
      const isAsked = this.#waiting !== undefined && this.#ready.length < JOIN_LENGTH;
      item = isAsked ? source.ready?.() : undefined;
    }
  }

  readonly #failed = (error: unknown): void => {
    this.#pulling = false;
    if (this.#source === undefined) return;
    this.#close();
    const opening = this.#opening;
    if (opening !== undefined) {
      this.#opening = undefined;
      opening.reject(error);
      return;
    }
    this.#ready += this.#options.frames.failure(error);
    this.#settle();
  };

  /** Ends the stream with an error, and abandons its source. */
  #cut(): void {
    const source = this.#source;
    if (source === undefined) return;
    this.#failed(endedCredentialError());
    release(source);
  }

  /** Continues to pull while the source answers within the same turn of the event loop, then returns the frames. */
  #gather(): void {
    if (this.#waiting === undefined) return;
    if (!this.#pulling && this.#ready.length < JOIN_LENGTH) this.#pull();
    if (this.#gathering) return;
    this.#gathering = true;
    this.#seen = this.#items;
    this.#afterPromises(this.#look);
  }

  readonly #look = (): void => {
    if (this.#items !== this.#seen && this.#pulling) {
      this.#seen = this.#items;
      return this.#afterPromises(this.#look);
    }
    this.#gathering = false;
    this.#settle();
  };

  /** Resolves the pending `open`, or the pending read with all ready frames or the end. */
  #settle(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening !== undefined) return opening.resolve();
    const waiting = this.#waiting;
    const value = this.#ready;
    if (waiting === undefined || (value === '' && this.#source !== undefined)) return;
    this.#waiting = undefined;
    if (value === '') return waiting(END);
    this.#ready = '';
    this.#spoke = this.#options.clock.monotonic();
    waiting({ value, done: false });
  }

  #close(): void {
    if (this.#source !== undefined) this.#options.closed?.();
    this.#source = undefined;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /** One timer serves a stream for a whole interval, for any number of events. */
  #watch(): void {
    if (this.#stopTimer !== undefined) return;
    const { clock, heartbeatMs } = this.#options;
    const silent = clock.monotonic() - this.#spoke;
    this.#stopTimer = clock.after(Math.max(1, heartbeatMs - silent), () => {
      this.#stopTimer = undefined;
      if (this.#opening === undefined && this.#waiting === undefined) return;
      if (clock.monotonic() - this.#spoke < heartbeatMs) {
        this.#watch();
        return;
      }
      if (this.#ready === '') this.#ready = HEARTBEAT;
      this.#settle();
    });
  }
}

/** Closes the source, which may still be producing an item. Errors of its clean-up are ignored. */
function release(source: ItemSource): void {
  try {
    source.return?.().then(undefined, () => {});
  } catch {
    // Ignored, like a rejection.
  }
}
