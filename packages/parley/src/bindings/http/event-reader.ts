import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { type EventFrame, FrameParser, LongText } from '../../net/frame-parser.js';
import type { TurnBudget } from '../../runtime/turn-budget.js';
import { connectionFault } from './connection-fault.js';
import { refuseItems, tryJson } from './received-answer.js';

/** The options of `EventReader`. */
interface EventReaderOptions<Event> {
  readonly body: ReadableStream<Uint8Array>;
  /** The longest event, with the comments and skipped frames before it, in characters. */
  readonly limit: number;
  /** The most members and elements of the JSON of an event. */
  readonly items: number;
  /** The time for the streams of the process in a turn of the event loop. */
  readonly turn: TurnBudget;
  readonly signal: AbortSignal | undefined;
  /**
   * Decodes a frame; undefined: the frame is skipped. Its error is thrown after the events before it have been read.
   */
  readonly decode: (frame: EventFrame) => Event | undefined;
}

const NOTHING_MORE: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
/** Bytes that are read between two checks of the time. */
const SLICE = 65_536;
/**
 * Minimum interval between two empty lists for chunks without an event, in ms. A peer may send a chunk for each byte.
 */
const SIGN_MS = 100;

/**
 * Reads the events of an event stream. Events of one chunk come in one list. A chunk without a whole frame, such as a
 * comment, yields an empty list as a keep-alive. Reads the next chunk only on demand, and serves one reader at a time.
 * Yields to other work when the time of the turn is used up. A last frame without its empty line counts, unless its
 * JSON was cut off. A body without a frame is decoded as a whole, because its type may be wrong.
 * `next` throws ConnectionError if the stream breaks off, A2AError if an event is too long, or the reason of the
 * signal.
 */
export class EventReader<Event> implements AsyncIterator<readonly Event[], undefined> {
  readonly #options: EventReaderOptions<Event>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser = new FrameParser();
  /** Bytes that have been read and not parsed. */
  #rest: Uint8Array | undefined;
  #events: Event[] = [];
  #fault: { readonly error: unknown } | undefined;
  #isOver = false;
  /** The time of the last list. */
  #told = Number.NEGATIVE_INFINITY;
  /** The end of the last event, in characters of the stream. */
  #eventEnd = 0;
  /** The first characters of the body, enough to tell a frame from other text. */
  #start = '';
  /** The body so far; undefined once it is known to be an event stream. */
  #text: LongText | undefined = new LongText();

  constructor(options: EventReaderOptions<Event>) {
    this.#options = options;
    this.#reader = options.body.getReader();
  }

  async next(): Promise<IteratorResult<readonly Event[], undefined>> {
    if (this.#isOver) return this.#ending();
    const { turn, signal } = this.#options;
    try {
      do {
        const pause = turn.pause();
        if (pause !== undefined) await pause;
        await this.#read();
      } while (this.#readsOn());
    } catch (cause) {
      this.#end();
      signal?.throwIfAborted();
      const { reason } = await connectionFault(cause);
      throw new ConnectionError(`The stream broke off: ${reason}`, { sent: true, cause });
    }
    if (this.#fault !== undefined) this.#end();
    const events = this.#events;
    if (this.#isOver && events.length === 0) return this.#ending();
    this.#events = [];
    this.#told = turn.now();
    return { value: events, done: false };
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#fault = undefined;
    this.#end();
    return NOTHING_MORE;
  }

  async #read(): Promise<void> {
    let rest = this.#rest;
    if (rest === undefined) {
      const { done, value } = await this.#reader.read();
      this.#isOver = done;
      rest = value;
    }
    // Some servers omit the last empty line.
    if (rest === undefined) this.#parse(`${this.#decoder.decode()}\n\n`);
    else {
      this.#rest = rest.length > SLICE ? rest.subarray(SLICE) : undefined;
      const slice = this.#rest === undefined ? rest : rest.subarray(0, SLICE);
      this.#parse(this.#decoder.decode(slice, { stream: true }));
    }
    if (this.#isOver) this.#takeText();
  }

  /** True if the reader must wait for the next chunk. */
  #readsOn(): boolean {
    if (this.#isOver || this.#fault !== undefined || this.#events.length > 0) return false;
    // A JSON value is one answer, so its first lines are no keep-alive.
    const isValue = this.#text !== undefined && this.#start[0] === '{';
    return isValue || this.#options.turn.now() - this.#told < SIGN_MS;
  }

  #parse(text: string): void {
    const { limit } = this.#options;
    this.#keep(text);
    this.#parser.feed(text);
    for (let frame = this.#parser.next(); frame !== undefined; frame = this.#parser.next()) this.#take(frame);
    if (this.#parser.read - this.#eventEnd > limit) this.#fault ??= { error: tooLong(limit) };
  }

  #take(frame: EventFrame): void {
    const { limit, items, decode } = this.#options;
    if (this.#fault !== undefined || (this.#isOver && isCutOff(frame.data))) return;
    this.#text = undefined;
    try {
      if (frame.data.length > limit) throw tooLong(limit);
      refuseItems(frame.data, items);
      const event = decode(frame);
      if (event === undefined) return;
      this.#eventEnd = this.#parser.read;
      this.#events.push(event);
    } catch (error) {
      this.#fault = { error };
    }
  }

  #keep(text: string): void {
    if (this.#text === undefined) return;
    this.#text.add(text);
    if (this.#text.length > this.#options.limit) this.#fault ??= { error: tooLong(this.#options.limit) };
    if (this.#start.length >= LONGEST_FIELD) return;
    const more = this.#start === '' ? text.trimStart() : text;
    this.#start = (this.#start + more).slice(0, LONGEST_FIELD);
    if (/^(?:data|event|id|retry)?:/.test(this.#start)) this.#text = undefined;
  }

  /** Takes a body without any frame. A truncated field is ignored. */
  #takeText(): void {
    const text = this.#text?.take().trim() ?? '';
    if (!FIELDS.some((field) => field.startsWith(text))) this.#take({ data: text });
  }

  /** The end after the last event, or the pending error once. */
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

/** True for truncated data. A text that is no JSON has no detectable end. */
function isCutOff(data: string): boolean {
  return /^\s*(?:\{|$)/.test(data) && tryJson(data) === undefined;
}

function tooLong(limit: number): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `An event is longer than ${limit} characters`);
}
