import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { stateNumber, stateOfNumber } from '../state-numbers.js';
import { PartsCursor, type PartsRange } from './parts-cursor.js';

/** The JSON of an event in the log of a finished task. A number is a reference to the task. */
type PackedEvent =
  | { task: PackedSnapshot; artifactUpdate?: undefined }
  | Extract<TaskEvent, { statusUpdate: unknown }>
  | { artifactUpdate: Omit<TaskArtifactUpdateEvent, 'artifact'> & { artifact: PackedArtifact | number } };

/** `parts` may be a range of the artifact of the task (`PartsCursor`). */
type PackedArtifact = Omit<Artifact, 'parts'> & { parts: readonly Part[] | readonly [from: number, to: number] };

type PackedSnapshot = Omit<Task, 'history'> & { history?: readonly Message[] | number };

/** The form of a packed record: the first element of its array. */
const KIND = { event: 0, status: 1, lastStatus: 2, artifact: 3, created: 4 } as const;

/** An event with all changes of its record. A message of the history may be an index in the history of the task. */
type PackedChange = [
  kind: typeof KIND.event,
  turn: number,
  event: PackedEvent,
  history: readonly (Message | number)[] | null,
  metadata: JsonObject | null,
];

/**
 * Consecutive chunks that only have parts of an artifact of the task. `artifact`: its index. `from`: the place where
 * the first chunk begins. Each chunk begins at the end of the one before. A negative size is a repeat count of the size
 * before it.
 */
interface PackedChunks {
  readonly turn: number;
  readonly artifact: number;
  readonly from: number;
  readonly flags: number;
  readonly sizes: number[];
}

/** The index of `append` in `FLAGS`, plus three times the index of `lastChunk`. */
const FLAGS = [undefined, false, true] as const;

/** The stored form of one or more records. Most events have a short form. */
export type PackedRecord =
  | PackedChange
  | PackedChunks
  | [kind: typeof KIND.status, turn: number, state: number, timestamp: string]
  /** The final status of the task. */
  | [kind: typeof KIND.lastStatus, turn: number]
  /** An artifact of the task. */
  | [kind: typeof KIND.artifact, turn: number, artifact: number, flags: number]
  /** The new task, with the number of its messages. */
  | [kind: typeof KIND.created, turn: number, state: number, timestamp: string, messages: number];

/**
 * Packs records of a finished task. The fold shares messages, artifacts and parts with the records, so a record refers
 * to the task for them. A value that the task does not share is stored whole.
 */
export class RecordPacker {
  readonly #task: Task;
  readonly #artifacts: readonly Artifact[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #history: readonly Message[];
  /** The place in each artifact where the next chunk may begin. */
  readonly #cursors: PartsCursor[] = [];
  #nextMessage = 0;

  constructor(task: Task) {
    this.#task = task;
    this.#artifacts = task.artifacts ?? [];
    this.#history = task.history ?? [];
    this.#places = new Map(this.#artifacts.map(({ artifactId }, place) => [artifactId, place]));
  }

  /** Packs the next records of the task. */
  pack(records: Iterable<LogRecord>): readonly PackedRecord[] {
    const packed: PackedRecord[] = [];
    let run: ChunkRun | undefined;
    for (const record of records) {
      const update = record.event.artifactUpdate;
      const place = (update && this.#places.get(update.artifact.artifactId)) ?? -1;
      const range = update && this.#rangeOf(place, update);
      const flags = update && range && this.#chunkFlags(record, update);
      if (range === undefined || flags === undefined) {
        run = undefined;
        packed.push(this.#short(record, place) ?? this.#change(record, place, range));
      } else if (run?.takes(record.turn, place, flags, range) !== true) {
        run = new ChunkRun({ turn: record.turn, artifact: place, from: range.from, flags, sizes: [] }, range);
        packed.push(run.chunks);
      }
    }
    return packed;
  }

  /** Returns the short form of a record, if its event has only the usual members. */
  #short({ turn, event, history, metadata }: LogRecord, place: number): PackedRecord | undefined {
    if (history !== undefined || metadata !== undefined) return undefined;
    if (event.artifactUpdate !== undefined) {
      const flags = this.#flags(event.artifactUpdate);
      const isWhole = this.#artifacts[place] === event.artifactUpdate.artifact;
      return isWhole && flags !== undefined ? [KIND.artifact, turn, place, flags] : undefined;
    }
    if (event.statusUpdate !== undefined) {
      const { statusUpdate } = event;
      const { status } = statusUpdate;
      if (!this.#hasItsIds(statusUpdate) || memberCount(statusUpdate) !== 3) return undefined;
      if (status === this.#task.status) return [KIND.lastStatus, turn];
      return isTimed(status) ? [KIND.status, turn, stateNumber(status.state), status.timestamp] : undefined;
    }
    const { id, contextId, status, history: messages } = event.task;
    if (id !== this.#task.id || contextId !== this.#task.contextId || messages === undefined) return undefined;
    if (memberCount(event.task) !== 4 || !isTimed(status) || !this.#begins(messages)) return undefined;
    return [KIND.created, turn, stateNumber(status.state), status.timestamp, messages.length];
  }

  #change({ turn, event, history, metadata }: LogRecord, place: number, range: PartsRange | undefined): PackedChange {
    const messages = history?.map((message) => this.#message(message));
    return [KIND.event, turn, this.#event(event, place, range), messages ?? null, metadata ?? null];
  }

  #event(event: TaskEvent, place: number, range: PartsRange | undefined): PackedEvent {
    if (event.artifactUpdate !== undefined) {
      const { artifact } = event.artifactUpdate;
      const isWhole = this.#artifacts[place] === artifact;
      const packed = range === undefined ? artifact : { ...artifact, parts: [range.from, range.to] as const };
      return { artifactUpdate: { ...event.artifactUpdate, artifact: isWhole ? place : packed } };
    }
    return event.task !== undefined ? { task: this.#snapshot(event.task) } : event;
  }

  #snapshot(task: Task): PackedSnapshot {
    const { history = [] } = task;
    return this.#begins(history) ? { ...task, history: history.length } : task;
  }

  /** True if the history of the task begins with these messages. Sets `#nextMessage` after them. */
  #begins(messages: readonly Message[]): boolean {
    for (let place = 0; place < messages.length; place += 1) {
      if (messages[place] !== this.#history[place]) return false;
    }
    if (messages.length > 0) this.#nextMessage = messages.length;
    return messages.length > 0;
  }

  /** Returns the range of the parts, if they come next in the artifact of the task. */
  #rangeOf(place: number, { artifact, append }: TaskArtifactUpdateEvent): PartsRange | undefined {
    const whole = this.#artifacts[place];
    if (whole === undefined || whole === artifact) return undefined;
    let cursor = this.#cursors[place];
    if (cursor === undefined || append !== true) cursor = new PartsCursor(whole.parts);
    this.#cursors[place] = cursor;
    return cursor.advance(artifact.parts) ? cursor : undefined;
  }

  /** Returns the flags of a record that only has parts of an artifact. */
  #chunkFlags({ history, metadata }: LogRecord, update: TaskArtifactUpdateEvent): number | undefined {
    if (history !== undefined || metadata !== undefined || memberCount(update.artifact) !== 2) return undefined;
    return this.#flags(update);
  }

  /** Returns the flags of an update that only has its artifact and the ids of the task. */
  #flags(update: TaskArtifactUpdateEvent): number | undefined {
    const { append, lastChunk } = update;
    const given = (append === undefined ? 0 : 1) + (lastChunk === undefined ? 0 : 1);
    if (!this.#hasItsIds(update) || memberCount(update) !== 3 + given) return undefined;
    return FLAGS.indexOf(append) + 3 * FLAGS.indexOf(lastChunk);
  }

  #hasItsIds({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }): boolean {
    return taskId === this.#task.id && contextId === this.#task.contextId;
  }

  #message(message: Message): Message | number {
    if (message !== this.#history[this.#nextMessage]) return message;
    this.#nextMessage += 1;
    return this.#nextMessage - 1;
  }
}

/** The consecutive chunks of one entry. */
class ChunkRun {
  readonly chunks: PackedChunks;
  #to = 0;
  #lastSize = -1;

  constructor(chunks: PackedChunks, first: PartsRange) {
    this.chunks = chunks;
    this.#add(first);
  }

  /** Adds a chunk. Returns false if it does not continue the entry. */
  takes(turn: number, artifact: number, flags: number, range: PartsRange): boolean {
    const { chunks } = this;
    if (turn !== chunks.turn || artifact !== chunks.artifact || flags !== chunks.flags) return false;
    if (range.from !== this.#to) return false;
    this.#add(range);
    return true;
  }

  #add({ from, to }: PartsRange): void {
    const { sizes } = this.chunks;
    const size = to - from;
    const last = sizes.at(-1) ?? 0;
    if (size !== this.#lastSize) sizes.push(size);
    else if (last < 0) sizes[sizes.length - 1] = last - 1;
    else sizes.push(-1);
    this.#to = to;
    this.#lastSize = size;
  }
}

/**
 * Unpacks records from their parsed JSON, which it may change. `seq`: number of the first record. `task`: the task that
 * they refer to.
 */
export function* unpackRecords(seq: number, packed: readonly PackedRecord[], task: Task): Generator<LogRecord, void> {
  let at = seq;
  for (const entry of packed) {
    if (!Array.isArray(entry)) {
      for (const event of chunksOf(entry, task)) yield new LogRecord(at++, entry.turn, event);
    } else if (entry[0] === KIND.event) {
      const [, turn, event, history, metadata] = entry;
      const extras: { -readonly [Name in keyof LogRecordExtras]: LogRecordExtras[Name] } = {};
      if (history !== null)
        extras.history = history.map((message) =>
          typeof message === 'number' ? valueAt(task.history, message) : message,
        );
      if (metadata !== null) extras.metadata = metadata;
      yield new LogRecord(at++, turn, eventOf(event, task), extras);
    } else {
      yield new LogRecord(at++, entry[1], shortEvent(entry, task));
    }
  }
}

/** Returns the event of a short form. */
function shortEvent(entry: Exclude<PackedRecord, PackedChange | PackedChunks>, task: Task): TaskEvent {
  const { id, contextId = '', status } = task;
  const ids = { taskId: id, contextId };
  switch (entry[0]) {
    case KIND.status:
      return { statusUpdate: { ...ids, status: timedStatus(entry[2], entry[3]) } };
    case KIND.lastStatus:
      return { statusUpdate: { ...ids, status } };
    case KIND.artifact:
      return { artifactUpdate: { ...ids, artifact: valueAt(task.artifacts, entry[2]), ...flagsOf(entry[3]) } };
    case KIND.created: {
      const history = task.history?.slice(0, entry[4]);
      const members = { id, contextId, status: timedStatus(entry[2], entry[3]), metadata: undefined };
      return { task: new ShapedTask(history === undefined ? members : { ...members, history }) };
    }
  }
}

function* chunksOf({ artifact: place, from, flags, sizes }: PackedChunks, task: Task): Generator<TaskEvent, void> {
  const { artifactId, parts: whole } = valueAt(task.artifacts, place);
  const cursor = new PartsCursor(whole);
  let at = from;
  let last = 0;
  for (const size of sizes) {
    if (size >= 0) last = size;
    for (let count = Math.max(1, -size); count > 0; count -= 1) {
      const parts = cursor.slice(at, at + last);
      at += last;
      const artifact = { artifactId, parts };
      yield { artifactUpdate: { taskId: task.id, contextId: task.contextId ?? '', artifact, ...flagsOf(flags) } };
    }
  }
}

function flagsOf(flags: number): Pick<TaskArtifactUpdateEvent, 'append' | 'lastChunk'> {
  const append = FLAGS[flags % 3];
  const lastChunk = FLAGS[Math.floor(flags / 3)];
  return { ...(append !== undefined && { append }), ...(lastChunk !== undefined && { lastChunk }) };
}

/** True if a status has a state and a time, and nothing else. */
function isTimed(status: TaskStatus): status is TaskStatus & { readonly timestamp: string } {
  return status.timestamp !== undefined && memberCount(status) === 2;
}

function timedStatus(state: number, timestamp: string): TaskStatus {
  return { state: stateOfNumber(state), timestamp };
}

/** Replaces the references of an event by the values. Members keep their order. */
function eventOf(event: PackedEvent, task: Task): TaskEvent {
  if (event.artifactUpdate !== undefined) {
    const update = event.artifactUpdate;
    const { artifact } = update;
    if (typeof artifact === 'number') update.artifact = valueAt(task.artifacts, artifact);
    else if (arePlaces(artifact.parts)) {
      const place = task.artifacts?.findIndex(({ artifactId }) => artifactId === artifact.artifactId) ?? -1;
      artifact.parts = new PartsCursor(valueAt(task.artifacts, place).parts).slice(...artifact.parts);
    }
  } else if (event.task !== undefined) {
    const shown = event.task;
    if (typeof shown.history === 'number') shown.history = (task.history ?? []).slice(0, shown.history);
  }
  return event as TaskEvent;
}

/** A value that a packed record refers to. */
function valueAt<Value>(values: readonly Value[] | undefined, place: number): Value {
  const value = values?.[place];
  if (value === undefined) throw new RangeError(`The task has nothing at ${place}`);
  return value;
}

function arePlaces(parts: PackedArtifact['parts']): parts is readonly [number, number] {
  return typeof parts[0] === 'number';
}

function memberCount(value: object): number {
  let count = 0;
  for (const _ in value) count += 1;
  return count;
}
