import type { Artifact } from '../model/artifact.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { TaskArtifactUpdateEvent } from '../model/stream-response.js';
import type { Task, TaskStatus } from '../model/task.js';
import { isInterrupted } from '../model/task-state.js';
import { GrowingArtifact, mergeMetadata } from './growing-artifact.js';
import type { LogRecord } from './log-record.js';
import { ShapedTask } from './shaped-task.js';

/** The members of a task that change with nearly every record. Stored beside its snapshot. */
export interface StatusAndMetadata {
  readonly status: TaskStatus;
  readonly metadata: JsonObject | undefined;
}

/**
 * Folds a log into a task (Spec §4.2.2). Owned by one writer. The cost of a record does not depend on the size of the
 * task. Parts and messages are shared with the records and never changed.
 */
export class TaskBuilder {
  /** The current status and metadata. Records replace the object, and never change it. */
  head: StatusAndMetadata;
  #task: Task;
  /** In the order of their first events. An artifact of one piece is the object of its event. */
  #artifacts = new Map<string, Artifact | GrowingArtifact>();
  #history: Message[] = [];
  #historyShared = false;
  #known: Set<string> | undefined;
  #view: Task | undefined;

  /** Starts from an existing task. */
  constructor(task: Task) {
    this.#task = task;
    this.head = { status: task.status, metadata: task.metadata };
    this.#replace(task);
  }

  /** The task after these records. */
  static fold(task: Task, records: Iterable<LogRecord>): Task {
    const builder = new TaskBuilder(task);
    for (const record of records) builder.apply(record);
    return builder.view();
  }

  /**
   * Folds a stored log into its task. Without a snapshot, the log must be complete, and its first record contains the
   * task.
   * @throws Error if the log has no beginning.
   */
  static replay(id: string, snapshot: Task | undefined, records: Iterable<LogRecord>): Task {
    let builder = snapshot && new TaskBuilder(snapshot);
    for (const record of records) {
      if (builder !== undefined) builder.apply(record);
      else if (record.event.task !== undefined) builder = new TaskBuilder(record.event.task);
      else break;
    }
    if (builder === undefined) throw new Error(`The log of task ${id} has no beginning`);
    return builder.view();
  }

  /** Applies one record. The caller passes records in order. */
  apply(record: LogRecord): void {
    this.#view = undefined;
    const event = record.event;
    if (event.artifactUpdate !== undefined) this.#applyArtifact(event.artifactUpdate);
    else if (event.statusUpdate !== undefined) this.#applyStatus(event.statusUpdate.status);
    else this.#replace(event.task);
    if (record.history !== undefined) for (const message of record.history) this.#remember(message);
    if (record.metadata === undefined) return;
    this.head = { ...this.head, metadata: mergeMetadata(this.head.metadata, record.metadata) };
  }

  /** True if the task has an artifact. */
  has(artifactId: string): boolean {
    return this.#artifacts.has(artifactId);
  }

  /** An artifact of the task as plain data. Later records do not change it. */
  artifact(artifactId: string): Artifact | undefined {
    const artifact = this.#artifacts.get(artifactId);
    return artifact instanceof GrowingArtifact ? artifact.view() : artifact;
  }

  /** The current task as plain data. Later records do not change it. */
  view(): Task {
    if (this.#view !== undefined) return this.#view;
    const { id, contextId } = this.#task;
    const artifacts: Artifact[] = [];
    for (const artifact of this.#artifacts.values()) {
      artifacts.push(artifact instanceof GrowingArtifact ? artifact.view() : artifact);
    }
    this.#historyShared = true;
    this.#view = new ShapedTask({ id, contextId, artifacts, history: this.#history, ...this.head });
    return this.#view;
  }

  #replace(task: Task): void {
    this.#task = task;
    this.head = { status: task.status, metadata: task.metadata };
    this.#artifacts.clear();
    for (const artifact of task.artifacts ?? []) this.#artifacts.set(artifact.artifactId, artifact);
    // The array belongs to the given task. It is copied before the first message is added.
    this.#history = (task.history ?? []) as Message[];
    this.#historyShared = true;
    this.#known = undefined;
  }

  #applyStatus(status: TaskStatus): void {
    const { state, message: superseded } = this.head.status;
    this.head = { status, metadata: this.head.metadata };
    // A question is part of the conversation. Progress messages of the agent stay in the log only.
    if (superseded === undefined || !isInterrupted(state)) return;
    if (status.message !== undefined && identity(status.message) === identity(superseded)) return;
    this.#remember(superseded);
  }

  /** A replaced artifact keeps its position. */
  #applyArtifact({ artifact, append }: TaskArtifactUpdateEvent): void {
    const id = artifact.artifactId;
    const present = append === true ? this.#artifacts.get(id) : undefined;
    if (present === undefined) return void this.#artifacts.set(id, artifact);
    const growing = present instanceof GrowingArtifact ? present : new GrowingArtifact(present);
    growing.append(artifact);
    this.#artifacts.set(id, growing);
  }

  #remember(message: Message): void {
    this.#known ??= new Set(this.#history.map(identity));
    const id = identity(message);
    if (this.#known.has(id)) return;
    this.#known.add(id);
    if (this.#historyShared) {
      this.#history = this.#history.slice();
      this.#historyShared = false;
    }
    this.#history.push(message);
  }
}

/** The creator of a message makes its id unique (Spec §4.1.4). */
function identity(message: Message): string {
  return message.role === 'ROLE_AGENT' ? `a${message.messageId}` : `u${message.messageId}`;
}
