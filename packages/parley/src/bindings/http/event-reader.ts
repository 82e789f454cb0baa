import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { connectionFault } from './connection-fault.js';
import { tryJson } from './received-answer.js';

/** The options of `EventReader`. */
export interface EventReaderOptions<Event> {
  readonly body: ReadableStream<Uint8Array>;
  /** The longest event, in characters. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  /**
   * Decodes a frame; undefined: the frame is skipped. Its error is thrown after the events before it have been read.
   */
  readonly decode: (frame: EventSourceMessage) => Event | undefined;
}

const NOTHING_MORE: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });

/**
 * Reads the events of an event stream. Events of one chunk come in one list. A chunk without a whole frame, such as a
 * comment, gives an empty list as a sign of life. Reads the next chunk only on demand, and serves one reader at a time.
 * A last frame without its empty line counts unless its JSON was cut off. A body without a frame is decoded whole: its
 * type may be wrong. `next` throws ConnectionError if the stream breaks off, A2AError if an event is too long, or the
 * reason of the signal.
 */
export class EventReader<Event> implements AsyncIterator<readonly Event[], undefined> {
  readonly #options: EventReaderOptions<Event>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #events: Event[] = [];
  #fault: { readonly error: unknown } | undefined;
  #isOver = false;
  /** The first characters of the body, enough to tell a frame from other text. */
  #start = '';
  /** The body so far; undefined once it is known to be an event stream. */
  #text: string | undefined = '';

  constructor(options: EventReaderOptions<Event>) {
    this.#options = options;
    this.#reader = options.body.getReader();
    this.#parser = createParser({
      onEvent: (frame) => this.#take(frame),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#fault ??= { error: tooLong(options.limit) };
      },
      maxBufferSize: options.limit,
    });
  }

  async next(): Promise<IteratorResult<readonly Event[], undefined>> {
    if (this.#isOver) return this.#ending();
    try {
      // A JSON value is one answer: its first lines are no sign of life.
      do {
        const { done, value } = await this.#reader.read();
        this.#isOver = done;
        // Some servers omit the last empty line.
        const text = done ? `${this.#decoder.decode()}\n\n` : this.#decoder.decode(value, { stream: true });
        this.#keep(text);
        this.#parser.feed(text);
        if (done) this.#takeText();
      } while (this.#text !== undefined && this.#start[0] === '{' && !this.#isOver && this.#fault === undefined);
    } catch (cause) {
      this.#end();
      this.#options.signal?.throwIfAborted();
      const { reason } = await connectionFault(cause);
      throw new ConnectionError(`The stream broke off: ${reason}`, { sent: true, cause });
    }
    if (this.#fault !== undefined) this.#end();
    const events = this.#events;
    if (this.#isOver && events.length === 0) return this.#ending();
    this.#events = [];
    return { value: events, done: false };
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#fault = undefined;
    this.#end();
    return NOTHING_MORE;
  }

  #take(frame: EventSourceMessage): void {
    const { limit, decode } = this.#options;
    if (this.#fault !== undefined || (this.#isOver && isCutOff(frame.data))) return;
    this.#text = undefined;
    try {
      if (frame.data.length > limit) throw tooLong(limit);
      const event = decode(frame);
      if (event !== undefined) this.#events.push(event);
    } catch (error) {
      this.#fault = { error };
    }
  }

  #keep(text: string): void {
    if (this.#text === undefined) return;
    this.#text += text;
    if (this.#text.length > this.#options.limit) this.#fault ??= { error: tooLong(this.#options.limit) };
    if (this.#start.length >= LONGEST_FIELD) return;
    const more = this.#start === '' ? text.trimStart() : text;
    this.#start = (this.#start + more).slice(0, LONGEST_FIELD);
    if (/^(?:data|event|id|retry)?:/.test(this.#start)) this.#text = undefined;
  }

  /** Takes a body without any frame. A field of which the end is missing is none. */
  #takeText(): void {
    const text = this.#text?.trim() ?? '';
    if (!FIELDS.some((field) => field.startsWith(text))) this.#take({ data: text });
  }

  /** The end after the last event, or once the error in its place. */
  #ending(): IteratorReturnResult<undefined> {
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault !== undefined) throw fault.error;
    return NOTHING_MORE;
  }

  #end(): void {
    this.#isOver = true;
    this.#reader.cancel().catch(() => {});
  }
}

/** The fields of a frame. */
const FIELDS = ['data', 'event', 'id', 'retry'];
/** The length of `event:` and `retry:`. */
const LONGEST_FIELD = 6;

/** True for data of which the end is missing. A text has no mark for its end. */
function isCutOff(data: string): boolean {
  return /^\s*(?:\{|$)/.test(data) && tryJson(data) === undefined;
}

function tooLong(limit: number): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `An event is longer than ${limit} characters`);
}
