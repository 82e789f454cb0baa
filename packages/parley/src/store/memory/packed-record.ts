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

/** Parts of an artifact of the task: its place, and the places of its parts, without the last one. */
type Parts = readonly [artifact: number, from: number, to: number];

/** An event as the JSON of a finished task's log keeps it. A number is a reference to the task. */
type PackedEvent =
  | { task: PackedSnapshot }
  | { statusUpdate: { taskId: string | 0; contextId: string | 0; status: TaskStatus | 0 } }
  | {
      artifactUpdate: {
        taskId: string | 0;
        contextId: string | 0;
        artifact: (Omit<Artifact, 'parts'> & { parts: readonly Part[] | Parts }) | number;
      };
    };

type PackedSnapshot = Omit<Task, 'history'> & { history?: readonly Message[] | number };

/** The stored members of one record. A message in the history may be its place in the task's. */
export type PackedRecord = readonly [
  turn: number,
  event: PackedEvent,
  history: readonly (Message | number)[] | null,
  metadata: JsonObject | null,
];

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

  #artifact(artifact: Artifact) {
    const { artifactId } = artifact;
    const place = this.#places
      ? (this.#places.get(artifactId) ?? -1)
      : this.#artifacts.findIndex((other) => other.artifactId === artifactId);
    const whole = this.#artifacts[place];
    if (whole === undefined) return artifact;
    if (whole === artifact) return place;
    const from = this.#nextPart[place] ?? 0;
    const { length } = artifact.parts;
    if (length === 0 || artifact.parts.some((part, at) => part !== whole.parts[from + at])) return artifact;
    this.#nextPart[place] = from + length;
    return { ...artifact, parts: [place, from, from + length] as const };
  }

  #message(message: Message): Message | number {
    if (message !== this.#history[this.#nextMessage]) return message;
    this.#nextMessage += 1;
    return this.#nextMessage - 1;
  }
}

/** The record that was packed, from its parsed JSON, which it takes over. `task` is the task that it refers to. */
export function unpacked(seq: number, [turn, event, history, metadata]: PackedRecord, task: Task): LogRecord {
  const extras: { -readonly [Name in keyof LogRecordExtras]: LogRecordExtras[Name] } = {};
  if (history !== null) extras.history = history.map((message) => messageOf(message, task));
  if (metadata !== null) extras.metadata = metadata;
  return LogRecord.of(seq, turn, eventOf(event, task), extras);
}

/** Puts the values in place of the references, so that the members keep their order. */
function eventOf(event: PackedEvent, task: Task): TaskEvent {
  if ('artifactUpdate' in event) {
    const update = event.artifactUpdate;
    setIds(update, task);
    update.artifact = artifactOf(update.artifact, task) as Artifact;
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

function artifactOf(packed: object | number, { artifacts = [] }: Task): unknown {
  if (typeof packed === 'number') return artifacts[packed];
  const artifact = packed as { parts: readonly Part[] | Parts };
  const [place, from, to] = artifact.parts;
  if (typeof place !== 'number' || typeof from !== 'number' || typeof to !== 'number') return artifact;
  artifact.parts = artifacts[place]?.parts.slice(from, to) ?? [];
  return artifact;
}

function messageOf(packed: Message | number, { history = [] }: Task): Message {
  if (typeof packed !== 'number') return packed;
  const message = history[packed];
  if (message === undefined) throw new RangeError(`The task has no message ${packed}`);
  return message;
}
