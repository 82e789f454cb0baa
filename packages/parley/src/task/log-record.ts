import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { TaskEvent } from '../model/stream-response.js';
import { ShapedTask } from './shaped-task.js';
import type { StreamItem } from './stream-item.js';

/** What a record changes beside showing its event. */
export interface LogRecordExtras {
  /** Messages that enter the history with this record. */
  readonly history?: readonly Message[];
  /** Members merged key by key into the task's metadata. */
  readonly metadata?: JsonObject;
}

/**
 * One change of a task, numbered without gaps from 1. The stored task is the fold of its records, and each record
 * shows exactly one event. The JSON of the event is made at most once and shared by every store and stream.
 */
export class LogRecord implements StreamItem {
  readonly seq: number;
  /** The turn that wrote it; 0 for writes from outside of any turn before the first one. */
  readonly turn: number;
  readonly history: readonly Message[] | undefined;
  readonly metadata: JsonObject | undefined;
  #event: TaskEvent | undefined;
  #text: string | undefined;

  private constructor(seq: number, turn: number, extras: LogRecordExtras) {
    this.seq = seq;
    this.turn = turn;
    this.history = extras.history;
    this.metadata = extras.metadata;
  }

  static of(seq: number, turn: number, event: TaskEvent, extras: LogRecordExtras = {}): LogRecord {
    const record = new LogRecord(seq, turn, extras);
    record.#event = event;
    return record;
  }

  /** A record read back; its event is parsed only when somebody looks at it. */
  static fromText(seq: number, turn: number, text: string, extras: LogRecordExtras = {}): LogRecord {
    const record = new LogRecord(seq, turn, extras);
    record.#text = text;
    return record;
  }

  /** Whether the JSON of the event has been made. */
  get isWritten(): boolean {
    return this.#text !== undefined;
  }

  get event(): TaskEvent {
    this.#event ??= JSON.parse(this.#text as string) as TaskEvent;
    return this.#event;
  }

  /** The event as v1.0 JSON. */
  get text(): string {
    this.#text ??= textOf(this.event);
    return this.#text;
  }
}

function textOf(event: TaskEvent): string {
  return 'task' in event ? `{"task":${ShapedTask.textOf(event.task)}}` : JSON.stringify(event);
}
