import type { Artifact } from '../../model/artifact.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { shapeTask } from '../../task/shape-task.js';
import { TaskBuilder, type TaskHead } from '../../task/task-builder.js';

/** Which of the large members a reader wants. */
export interface Wanted {
  readonly artifacts: boolean;
  readonly history: boolean;
}

const NO_RECORDS: readonly LogRecord[] = [];

/** A task with its log, folded up to the last record when somebody reads it. */
export class LiveTask {
  #task: Task;
  /** How many of the last records `#task` does not have yet. */
  #pending = 0;
  #head: TaskHead;
  #records: LogRecord[];

  constructor(task: Task, first: LogRecord) {
    this.#task = task;
    this.#head = task as TaskHead;
    this.#records = [first];
  }

  get records(): readonly LogRecord[] {
    return this.#records;
  }

  append(records: readonly LogRecord[], head: TaskHead, snapshot: Task | undefined): void {
    for (const record of records) this.#records.push(record);
    this.#head = head;
    if (snapshot === undefined) {
      this.#pending += records.length;
    } else {
      this.#task = snapshot;
      this.#pending = 0;
    }
  }

  /** Drops so many of the oldest records; the task itself stays as it is. */
  forget(count: number): void {
    this.read();
    this.#records = this.#records.slice(count);
  }

  read(): Task {
    if (this.#pending > 0) {
      this.#task = TaskBuilder.fold(this.#task, this.#records.slice(-this.#pending));
      this.#pending = 0;
    }
    return this.#task;
  }

  readPart(wanted: Wanted): Task {
    const { id, contextId, artifacts, history } = wanted.artifacts || wanted.history ? this.read() : this.#task;
    return shapeTask({
      id,
      contextId,
      status: this.#head.status,
      artifacts: wanted.artifacts ? artifacts : undefined,
      history: wanted.history ? history : undefined,
      metadata: this.#head.metadata,
    });
  }

  pack(): PackedTask {
    return new PackedTask(this.read());
  }
}

/** A finished task without its log, as text: a few strings cost far less than the objects they stand for. */
export class PackedTask {
  readonly #id: string;
  readonly #contextId: string | undefined;
  readonly #head: string;
  readonly #artifacts: string | undefined;
  readonly #history: string | undefined;

  constructor(task: Task) {
    this.#id = task.id;
    this.#contextId = task.contextId;
    this.#head = JSON.stringify({ status: task.status, metadata: task.metadata });
    this.#artifacts = task.artifacts && JSON.stringify(task.artifacts);
    this.#history = task.history && JSON.stringify(task.history);
  }

  get records(): readonly LogRecord[] {
    return NO_RECORDS;
  }

  read(): Task {
    return this.readPart({ artifacts: true, history: true });
  }

  readPart(wanted: Wanted): Task {
    const { status, metadata } = JSON.parse(this.#head) as Pick<Task, 'status' | 'metadata'>;
    return shapeTask({
      id: this.#id,
      contextId: this.#contextId,
      status,
      artifacts: wanted.artifacts ? parsed<Artifact>(this.#artifacts) : undefined,
      history: wanted.history ? parsed<Message>(this.#history) : undefined,
      metadata,
    });
  }
}

function parsed<T>(text: string | undefined): readonly T[] | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as readonly T[]);
}
