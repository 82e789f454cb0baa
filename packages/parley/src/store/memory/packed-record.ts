import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import type { TaskEvent } from '../../model/stream-response.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';

/** Stands for the id of the task, for that of its context, or for its status. */
const SAME = 0;
/** So many artifacts are looked through without an index. */
const FEW = 4;

/** An event as the JSON of a finished task's log keeps it. A number is a reference to the task. */
type PackedEvent =
  | { task: PackedSnapshot }
  | { statusUpdate: { taskId: string | 0; contextId: string | 0; status: TaskStatus | 0 } }
  | {
      artifactUpdate: { taskId: string | 0; contextId: string | 0; artifact: PackedArtifact | number };
    };

/** The parts may be the places of the first part and behind the last one in the artifact of the task. */
type PackedArtifact = Omit<Artifact, 'parts'> & { parts: readonly Part[] | readonly [from: number, to: number] };

type PackedSnapshot = Omit<Task, 'history'> & { history?: readonly Message[] | number };

/**
 * Chunks in a row that have only parts of an artifact of the task, each as many. The entry names the place of the
 * artifact, and the places of the parts. `to` is behind the last part. `flags` has the place of `append` in `FLAGS`,
 * and three times that of `lastChunk`.
 */
type PackedChunks = [turn: number, artifact: number, from: number, to: number, flags: number, count: number];

const FLAGS = [undefined, false, true] as const;

/** The stored members of one record or of several. A message in the history may be its place in the task's. */
export type PackedRecord =
  | readonly [
      turn: number,
      event: PackedEvent,
      history: readonly (Message | number)[] | null,
      metadata: JsonObject | null,
    ]
  | Readonly<PackedChunks>;

/**
 * Makes records of a finished task short. The fold shares messages, artifacts and parts with the records: a record
 * refers to what the task has anyway. A value that the task does not share stays whole.
 */
export class RecordPacker {
  readonly #task: Task;
  readonly #artifacts: readonly Artifact[];
  readonly #places: ReadonlyMap<string, number> | undefined;
  readonly #history: readonly Message[];
  /** The next part of each artifact that a chunk may refer to. */
  readonly #nextPart: number[] = [];
  #nextMessage = 0;

  constructor(task: Task) {
    this.#task = task;
    this.#artifacts = task.artifacts ?? [];
    this.#history = task.history ?? [];
    const many = this.#artifacts.length > FEW;
    this.#places = many ? new Map(this.#artifacts.map(({ artifactId }, place) => [artifactId, place])) : undefined;
  }

  /** Packs the next records of the task. */
  pack(records: Iterable<LogRecord>): readonly PackedRecord[] {
    const packed: PackedRecord[] = [];
    let chunks: PackedChunks | undefined;
    for (const record of records) {
      const { turn, event, history, metadata } = record;
      const place = 'artifactUpdate' in event ? this.#placeOf(event.artifactUpdate.artifact) : -1;
      const from = 'artifactUpdate' in event ? this.#partsFrom(place, event.artifactUpdate.artifact) : undefined;
      const chunk = from === undefined ? undefined : this.#chunk(record, place, from);
      if (chunk !== undefined && chunks !== undefined && hasTaken(chunks, chunk)) continue;
      chunks = chunk;
      const messages = chunk === undefined ? history?.map((message) => this.#message(message)) : undefined;
      packed.push(chunk ?? [turn, this.#event(event, place, from), messages ?? null, metadata ?? null]);
    }
    return packed;
  }

  #event(event: TaskEvent, place: number, from: number | undefined): PackedEvent {
    if ('artifactUpdate' in event) {
      const update = event.artifactUpdate;
      const { artifact } = update;
      const packed =
        from === undefined ? artifact : { ...artifact, parts: [from, from + artifact.parts.length] as const };
      const isWhole = this.#artifacts[place] === artifact;
      return { artifactUpdate: { ...update, ...this.#ids(update), artifact: isWhole ? place : packed } };
    }
    if ('statusUpdate' in event) {
      const update = event.statusUpdate;
      const status = update.status === this.#task.status ? SAME : update.status;
      return { statusUpdate: { ...update, ...this.#ids(update), status } };
    }
    return { task: this.#snapshot(event.task) };
  }

  #ids({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }) {
    const { id, contextId: context } = this.#task;
    return { taskId: taskId === id ? SAME : taskId, contextId: contextId === context ? SAME : contextId } as const;
  }

  #snapshot(task: Task): PackedSnapshot {
    const { history = [] } = task;
    if (history.length === 0 || history.some((message, place) => message !== this.#history[place])) return task;
    this.#nextMessage = history.length;
    return { ...task, history: history.length };
  }

  /** The place of the first part, if the task has the parts in its artifact just after those before them. */
  #partsFrom(place: number, artifact: Artifact): number | undefined {
    const whole = this.#artifacts[place];
    const { parts } = artifact;
    if (whole === undefined || whole === artifact || parts.length === 0) return undefined;
    const from = this.#nextPart[place] ?? 0;
    for (let index = 0; index < parts.length; index += 1) {
      if (parts[index] !== whole.parts[from + index]) return undefined;
    }
    this.#nextPart[place] = from + parts.length;
    return from;
  }

  /** The entry of a record that has nothing but parts of an artifact. */
  #chunk({ turn, event, history, metadata }: LogRecord, place: number, from: number): PackedChunks | undefined {
    if (!('artifactUpdate' in event) || history !== undefined || metadata !== undefined) return undefined;
    const { taskId, contextId, artifact, append, lastChunk } = event.artifactUpdate;
    if (taskId !== this.#task.id || contextId !== this.#task.contextId) return undefined;
    const given = (append === undefined ? 0 : 1) + (lastChunk === undefined ? 0 : 1);
    if (memberCount(event.artifactUpdate) !== 3 + given || memberCount(artifact) !== 2) return undefined;
    const flags = FLAGS.indexOf(append) + 3 * FLAGS.indexOf(lastChunk);
    return [turn, place, from, from + artifact.parts.length, flags, 1];
  }

  #placeOf({ artifactId }: Artifact): number {
    if (this.#places) return this.#places.get(artifactId) ?? -1;
    for (let place = 0; place < this.#artifacts.length; place += 1) {
      if (this.#artifacts[place]?.artifactId === artifactId) return place;
    }
    return -1;
  }

  #message(message: Message): Message | number {
    if (message !== this.#history[this.#nextMessage]) return message;
    this.#nextMessage += 1;
    return this.#nextMessage - 1;
  }
}

/** Adds a chunk to those before it. False: it is not like them. */
function hasTaken(chunks: PackedChunks, [turn, artifact, from, to, flags]: PackedChunks): boolean {
  const [lastTurn, lastArtifact, start, end, lastFlags, count] = chunks;
  const isNext = turn === lastTurn && artifact === lastArtifact && flags === lastFlags && from === end;
  if (!isNext || (to - from) * count !== end - start) return false;
  chunks[3] = to;
  chunks[5] = count + 1;
  return true;
}

/**
 * The records that were packed, from their parsed JSON, which they take over. `seq` is the number of the first one, and
 * `task` the task that they refer to.
 */
export function* unpacked(seq: number, packed: readonly PackedRecord[], task: Task): Generator<LogRecord, void> {
  let at = seq;
  for (const entry of packed) {
    if (entry.length === 6) {
      for (const event of chunksOf(entry, task)) yield LogRecord.of(at++, entry[0], event);
      continue;
    }
    const [turn, event, history, metadata] = entry;
    const extras: { -readonly [Name in keyof LogRecordExtras]: LogRecordExtras[Name] } = {};
    if (history !== null) extras.history = history.map((message) => messageOf(message, task));
    if (metadata !== null) extras.metadata = metadata;
    yield LogRecord.of(at++, turn, eventOf(event, task), extras);
  }
}

function* chunksOf(
  [, place, start, end, flags, count]: Readonly<PackedChunks>,
  task: Task,
): Generator<TaskEvent, void> {
  const { artifactId, parts } = artifactAt(place, task);
  const size = (end - start) / count;
  const append = FLAGS[flags % 3];
  const lastChunk = FLAGS[Math.floor(flags / 3)];
  for (let from = start; from < end; from += size) {
    yield {
      artifactUpdate: {
        taskId: task.id,
        contextId: task.contextId ?? '',
        artifact: { artifactId, parts: parts.slice(from, from + size) },
        ...(append !== undefined && { append }),
        ...(lastChunk !== undefined && { lastChunk }),
      },
    };
  }
}

/** Puts the values in place of the references, so that the members keep their order. */
function eventOf(event: PackedEvent, task: Task): TaskEvent {
  if ('artifactUpdate' in event) {
    const update = event.artifactUpdate;
    setIds(update, task);
    const { artifact } = update;
    if (typeof artifact === 'number') update.artifact = artifactAt(artifact, task);
    else if (arePlaces(artifact.parts)) {
      const place = task.artifacts?.findIndex(({ artifactId }) => artifactId === artifact.artifactId) ?? -1;
      artifact.parts = artifactAt(place, task).parts.slice(...artifact.parts);
    }
  } else if ('statusUpdate' in event) {
    const update = event.statusUpdate;
    setIds(update, task);
    if (update.status === SAME) update.status = task.status;
  } else {
    const shown = event.task;
    if (typeof shown.history === 'number') shown.history = (task.history ?? []).slice(0, shown.history);
  }
  return event as TaskEvent;
}

function setIds(update: { taskId: string | 0; contextId: string | 0 }, task: Task): void {
  if (update.taskId === SAME) update.taskId = task.id;
  if (update.contextId === SAME) update.contextId = task.contextId ?? '';
}

function artifactAt(place: number, { artifacts = [] }: Task): Artifact {
  const artifact = artifacts[place];
  if (artifact === undefined) throw new RangeError(`The task has no artifact ${place}`);
  return artifact;
}

function messageOf(packed: Message | number, { history = [] }: Task): Message {
  if (typeof packed !== 'number') return packed;
  const message = history[packed];
  if (message === undefined) throw new RangeError(`The task has no message ${packed}`);
  return message;
}

function arePlaces(parts: PackedArtifact['parts']): parts is readonly [number, number] {
  return typeof parts[0] === 'number';
}

function memberCount(value: object): number {
  let count = 0;
  for (const _ in value) count += 1;
  return count;
}
