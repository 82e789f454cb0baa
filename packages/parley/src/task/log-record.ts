import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { TaskEvent } from '../model/stream-response.js';
import { eventBytes } from './event-bytes.js';
import { ShapedTask } from './shaped-task.js';
import type { StreamItem } from './stream-item.js';

/** Changes of a record in addition to its event. */
export interface LogRecordExtras {
  /** Messages that join the history with this record. */
  readonly history?: readonly Message[];
  /** Members merged key by key into the task's metadata. */
  readonly metadata?: JsonObject;
}

/** A stored record: `event`, `history` and `metadata` are JSON, and `null` means absent. */
export interface RecordTexts {
  readonly seq: number;
  readonly turn: number;
  readonly event: string;
  readonly history: string | null;
  readonly metadata: string | null;
}

const NO_EXTRAS: LogRecordExtras = Object.freeze({});

/**
 * One change of a task, numbered from 1 without gaps. The stored task is the fold of its records. Each record has one
 * event. The JSON of the event is created at most once and shared by all stores and streams.
 */
export class LogRecord implements StreamItem {
  readonly seq: number;
  /** The turn that wrote the record. 0 for a write outside of turns before the first one. */
  readonly turn: number;
  readonly history: readonly Message[] | undefined;
  readonly metadata: JsonObject | undefined;
  #event: TaskEvent | undefined;
  #text: string | undefined;
  #bytes: number | undefined;

  /** An event in the form of JSON is parsed at its first read. `bytes`: its size, if it is known. */
  constructor(seq: number, turn: number, event: TaskEvent | string, extras = NO_EXTRAS, bytes?: number) {
    this.seq = seq;
    this.turn = turn;
    this.history = extras.history;
    this.metadata = extras.metadata;
    if (typeof event === 'string') this.#text = event;
    else this.#event = event;
    this.#bytes = bytes;
  }

  /** Parses a stored record. */
  static parse({ seq, turn, event, history, metadata }: RecordTexts): LogRecord {
    if (history === null && metadata === null) return new LogRecord(seq, turn, event);
    return new LogRecord(seq, turn, event, {
      ...(history !== null && { history: JSON.parse(history) as readonly Message[] }),
      ...(metadata !== null && { metadata: JSON.parse(metadata) as JsonObject }),
    });
  }

  get event(): TaskEvent {
    this.#event ??= JSON.parse(this.#text as string) as TaskEvent;
    return this.#event;
  }

  /** Approximate size of the event as JSON. Reading it creates no JSON. */
  get bytes(): number {
    this.#bytes ??= this.#text?.length ?? eventBytes(this.event);
    return this.#bytes;
  }

  /** The event as JSON of 1.0. */
  get text(): string {
    if (this.#text !== undefined) return this.#text;
    const { event } = this;
    this.#text = event.task !== undefined ? `{"task":${ShapedTask.textOf(event.task)}}` : JSON.stringify(event);
    return this.#text;
  }
}
