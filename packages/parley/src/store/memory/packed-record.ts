import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
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
      artifactUpdate: { taskId: string | 0; contextId: string | 0; artifact: Artifact | number };
    };

type PackedSnapshot = Omit<Task, 'history'> & { history?: readonly Message[] | number };

/**
 * A chunk that has only parts of an artifact of the task. It names the place of the artifact, and the places of the
 * parts. `to` is behind the last part. `flags` has the place of `append` in `FLAGS`, and three times that of
 * `lastChunk`.
 */
type PackedChunk = readonly [turn: number, artifact: number, from: number, to: number, flags: number];

const FLAGS = [undefined, false, true] as const;

/** The stored members of one record. A message in the history may be its place in the task's. */
export type PackedRecord =
  | readonly [
      turn: number,
      event: PackedEvent,
      history: readonly (Message | number)[] | null,
      metadata: JsonObject | null,
    ]
  | PackedChunk;

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

  /** Takes the records in order. */
  pack({ turn, event, history, metadata }: LogRecord): PackedRecord {
    if ('artifactUpdate' in event && history === undefined && metadata === undefined) {
      const chunk = this.#chunk(turn, event.artifactUpdate);
      if (chunk !== undefined) return chunk;
    }
    return [turn, this.#event(event), history?.map((message) => this.#message(message)) ?? null, metadata ?? null];
  }

  #event(event: TaskEvent): PackedEvent {
    if ('artifactUpdate' in event) {
      const update = event.artifactUpdate;
      return { artifactUpdate: { ...update, ...this.#ids(update), artifact: this.#artifact(update.artifact) } };
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

  #artifact(artifact: Artifact): Artifact | number {
    const place = this.#placeOf(artifact);
    return this.#artifacts[place] === artifact ? place : artifact;
  }

  #chunk(turn: number, update: TaskArtifactUpdateEvent): PackedChunk | undefined {
    const { taskId, contextId, artifact, append, lastChunk } = update;
    if (taskId !== this.#task.id || contextId !== this.#task.contextId) return undefined;
    const given = (append === undefined ? 0 : 1) + (lastChunk === undefined ? 0 : 1);
    if (memberCount(update) !== 3 + given || memberCount(artifact) !== 2) return undefined;
    const place = this.#placeOf(artifact);
    const whole = this.#artifacts[place];
    const { parts } = artifact;
    if (whole === undefined || whole === artifact || parts.length === 0) return undefined;
    const from = this.#nextPart[place] ?? 0;
    for (let index = 0; index < parts.length; index += 1) {
      if (parts[index] !== whole.parts[from + index]) return undefined;
    }
    const to = from + parts.length;
    this.#nextPart[place] = to;
    return [turn, place, from, to, FLAGS.indexOf(append) + 3 * FLAGS.indexOf(lastChunk)];
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

/** The record that was packed, from its parsed JSON, which it takes over. `task` is the task that it refers to. */
export function unpacked(seq: number, packed: PackedRecord, task: Task): LogRecord {
  if (packed.length === 5) return chunkOf(seq, packed, task);
  const [turn, event, history, metadata] = packed;
  const extras: { -readonly [Name in keyof LogRecordExtras]: LogRecordExtras[Name] } = {};
  if (history !== null) extras.history = history.map((message) => messageOf(message, task));
  if (metadata !== null) extras.metadata = metadata;
  return LogRecord.of(seq, turn, eventOf(event, task), extras);
}

function chunkOf(seq: number, [turn, place, from, to, flags]: PackedChunk, task: Task): LogRecord {
  const whole = artifactAt(place, task);
  const append = FLAGS[flags % 3];
  const lastChunk = FLAGS[Math.floor(flags / 3)];
  return LogRecord.of(seq, turn, {
    artifactUpdate: {
      taskId: task.id,
      contextId: task.contextId ?? '',
      artifact: { artifactId: whole.artifactId, parts: whole.parts.slice(from, to) },
      ...(append !== undefined && { append }),
      ...(lastChunk !== undefined && { lastChunk }),
    },
  });
}

/** Puts the values in place of the references, so that the members keep their order. */
function eventOf(event: PackedEvent, task: Task): TaskEvent {
  if ('artifactUpdate' in event) {
    const update = event.artifactUpdate;
    setIds(update, task);
    if (typeof update.artifact === 'number') update.artifact = artifactAt(update.artifact, task);
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

function memberCount(value: object): number {
  let count = 0;
  for (const _ in value) count += 1;
  return count;
}
