import type { ReceivedEvent } from '../../client/client-transport.js';
import type { Clock } from '../../runtime/clock.js';
import { LinkedList } from '../../runtime/linked-list.js';
import { ignoreRejection } from '../../runtime/settled.js';
import type { ItemSource, StreamItem } from '../../task/stream-item.js';
import { copiedEvent } from './copied-event.js';

type Batch = IteratorResult<readonly ReceivedEvent[], undefined>;

const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
/** Maximum number of events in a batch, to bound the wait for the first one. */
const MOST_EVENTS = 64;
const KEEP_ALIVE: Batch = Object.freeze({ value: Object.freeze([]), done: false });

/** The streams of clients in the process, so that their server can end them. */
export class InProcessStreams {
  readonly #open = new LinkedList<InProcessEvents>();
  #isClosed = false;

  /** True once the server is closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Refuses further calls. Readers get the events that are ready, within the grace. */
  async close(graceMs: number, clock: Clock): Promise<void> {
    this.#isClosed = true;
    if (this.#open.size === 0) return;
    // The last events of the turns are still on their way to waiting readers.
    await new Promise<void>((resolve) => clock.soon(resolve));
    await Promise.all(this.#open.values().map((events) => events.finish(graceMs)));
  }

  /** Registers a stream. Returns the function that removes it. */
  add(events: InProcessEvents): () => void {
    const place = this.#open.add(events);
    return () => this.#open.remove(place);
  }
}

/** The options of `InProcessEvents`. */
interface InProcessEventsOptions {
  readonly items: ItemSource;
  readonly streams: InProcessStreams;
  readonly clock: Clock;
  /** Time without an event after which an empty batch is sent as a keep-alive. */
  readonly heartbeatMs: number;
  /** The signal of the caller. */
  readonly signal: AbortSignal | undefined;
  /** Called once, if the stream ends before its source does. */
  readonly left: () => void;
  /** The error for the caller. */
  readonly failure: (error: unknown) => unknown;
}

/**
 * The events of a stream, copied for the caller. It reads only on demand, and supports one `next` at a time. Events
 * that are ready come in one batch.
 */
export class InProcessEvents implements AsyncIterator<readonly ReceivedEvent[], undefined> {
  readonly #options: InProcessEventsOptions;
  readonly #forget: () => void;
  #waiting: PromiseWithResolvers<Batch> | undefined;
  /** The event that arrived after a keep-alive had answered its read. The next read gets it. */
  #late: Promise<Batch> | undefined;
  #isReading = false;
  #isOver = false;
  #stopTimer: (() => void) | undefined;
  #finished: (() => void) | undefined;

  constructor(options: InProcessEventsOptions) {
    const { signal, streams } = options;
    this.#options = options;
    this.#forget = streams.add(this);
    signal?.addEventListener('abort', this.#aborted, { once: true });
    this.#beat();
  }

  next(): Promise<Batch> {
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) return late;
    if (this.#isOver) return Promise.resolve(END);
    const waiting = Promise.withResolvers<Batch>();
    this.#waiting = waiting;
    if (!this.#isReading) this.#read();
    return waiting.promise;
  }

  return(): Promise<Batch> {
    this.#late = undefined;
    this.#leave();
    return Promise.resolve(END);
  }

  /** Ends the stream when its reader waits for an event, or after the grace. */
  finish(graceMs: number): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    if (this.#waiting !== undefined) {
      this.#leave();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const stop = this.#options.clock.after(graceMs, () => this.#leave());
      const finished = () => {
        stop();
        resolve();
      };
      this.#finished = finished;
    });
  }

  #read(): void {
    this.#isReading = true;
    this.#options.items.next().then(this.#arrived, this.#failed);
  }

  readonly #arrived = (result: IteratorResult<StreamItem, undefined>): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    if (result.done === true) {
      this.#close();
      return this.#answer(END);
    }
    const { items } = this.#options;
    const events = [receivedOf(result.value)];
    while (events.length < MOST_EVENTS) {
      const item = items.ready?.();
      if (item === undefined) break;
      events.push(receivedOf(item));
    }
    this.#answer({ value: events, done: false });
  };

  readonly #failed = (error: unknown): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    this.#close();
    this.#refuse(this.#options.failure(error));
  };

  #answer(batch: Batch): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#late = Promise.resolve(batch);
    else waiting.resolve(batch);
  }

  #refuse(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#late = ignoreRejection(Promise.reject(error));
    else waiting.reject(error);
  }

  /** Ends the stream before its source does. */
  #leave(): void {
    if (this.#isOver) return;
    this.#close();
    this.#options.left();
    void this.#options.items.return?.();
    this.#waiting?.resolve(END);
    this.#waiting = undefined;
  }

  readonly #aborted = (): void => {
    this.#refuse(this.#options.signal?.reason);
    this.#leave();
  };

  #beat(): void {
    const { clock, heartbeatMs } = this.#options;
    this.#stopTimer = clock.after(heartbeatMs, () => {
      this.#waiting?.resolve(KEEP_ALIVE);
      this.#waiting = undefined;
      this.#beat();
    });
  }

  #close(): void {
    const { signal } = this.#options;
    this.#isOver = true;
    this.#stopTimer?.();
    signal?.removeEventListener('abort', this.#aborted);
    this.#forget();
    this.#finished?.();
  }
}

/** A copy of an event for the caller. */
function receivedOf({ event, seq }: StreamItem): ReceivedEvent {
  const own = copiedEvent(event);
  return seq === undefined ? { event: own } : { event: own, id: String(seq) };
}
