import type { Task } from '../../model/task.js';
import { eventBytes, taskBytes } from '../../task/event-bytes.js';
import type { LogRecord } from '../../task/log-record.js';
import { type MemberTexts, ShapedTask } from '../../task/shaped-task.js';
import { type StatusAndMetadata, TaskBuilder } from '../../task/task-builder.js';
import { trimLog } from '../engine/sweep.js';
import { PackedLog } from './packed-log.js';

/** Which of the large members a reader wants. */
interface WantedMembers {
  readonly artifacts: boolean;
  readonly history: boolean;
}

/** Text of a task that takes longer to parse than to look up. */
const LARGE = 16_384;

/** About what a task takes without its large members. */
const FRAME = 200;
/** About what lists and indexes take for one task. */
const ENTRY = 1_000;

/** So much of a task's log is kept while it goes on; what is older is in the task only. */
const LOG_BYTES = 16_777_216;

/** A task with its log. A read folds the log up to the last record. */
export class LiveTask {
  #task: Task;
  /** Number of the last records that `#task` does not have yet. */
  #pending = 0;
  #head: StatusAndMetadata;
  #records: LogRecord[];
  /** About how much the records take. */
  #bytes = 0;
  /** About how much the task takes without its records. */
  #taskBytes: number;
  /** The task whose size was asked for last. */
  #measured: { readonly task: Task; readonly bytes: number } | undefined = undefined;

  constructor(task: Task, first: LogRecord) {
    this.#task = task;
    this.#head = task as StatusAndMetadata;
    this.#records = [first];
    this.#taskBytes = ENTRY + eventBytes(first.event);
  }

  /** About how much memory all of it takes. */
  get bytes(): number {
    return this.#taskBytes + this.#bytes;
  }

  get recordCount(): number {
    return this.#records.length;
  }

  /** The records kept, without so many of the oldest. */
  records(from: number): Iterable<LogRecord> {
    return this.#records.slice(from);
  }

  append(records: readonly LogRecord[], head: StatusAndMetadata, snapshot: Task | undefined): void {
    for (const record of records) {
      const { bytes } = record;
      this.#records.push(record);
      this.#bytes += bytes;
      // The task grows with its records, which stay beside it.
      this.#taskBytes += bytes;
    }
    this.#head = head;
    if (snapshot === undefined) {
      this.#pending += records.length;
    } else {
      this.#task = snapshot;
      this.#pending = 0;
      this.#trim();
    }
  }

  read(): Task {
    if (this.#pending > 0) {
      this.#task = TaskBuilder.fold(this.#task, this.#records.slice(-this.#pending));
      this.#pending = 0;
    }
    return this.#task;
  }

  readPart(wanted: WantedMembers): Task {
    const { id, contextId, artifacts, history } = wanted.artifacts || wanted.history ? this.read() : this.#task;
    return new ShapedTask({
      id,
      contextId,
      status: this.#head.status,
      artifacts: wanted.artifacts ? artifacts : undefined,
      history: wanted.history ? history : undefined,
      metadata: this.#head.metadata,
    });
  }

  /** About how long the JSON is of what a reader wants. */
  bytesOf(wanted: WantedMembers): number {
    const task = wanted.artifacts || wanted.history ? this.read() : undefined;
    if (task === undefined) return FRAME;
    if (this.#measured?.task !== task) this.#measured = { task, bytes: taskBytes(task) };
    return this.#measured.bytes;
  }

  /** Drops the oldest records, so that an agent that goes on and on does not fill the memory. */
  #trim(): void {
    const log = {
      last: this.#records.at(-1)?.seq ?? 0,
      bytes: this.#bytes,
      records: () => this.#records,
      cut: (floor: number, bytes: number) => {
        this.#bytes -= bytes;
        this.#records = this.#records.filter(({ seq }) => seq >= floor);
      },
    };
    trimLog(log, LOG_BYTES);
  }

  /** The same with its log as text: what a finished task is kept as. */
  pack(): PackedTask {
    return new PackedTask(this.read(), this.#records);
  }
}

/** A finished task as text: a few strings cost far less than the many objects they stand for. */
export class PackedTask {
  readonly #id: string;
  readonly #contextId: string | undefined;
  readonly #texts: MemberTexts;
  #log: PackedLog | undefined;
  /** A large task after a read, until memory is needed. */
  #lately: WeakRef<Task> | undefined = undefined;

  constructor(task: Task, records: readonly LogRecord[]) {
    this.#id = task.id;
    this.#contextId = task.contextId;
    this.#texts = ShapedTask.textsOf(task);
    this.#log = PackedLog.of(records, task);
  }

  get recordCount(): number {
    return this.#log?.count ?? 0;
  }

  /** About how much memory all of it takes. */
  get bytes(): number {
    return ENTRY + this.bytesOf({ artifacts: true, history: true }) + this.eventLogBytes;
  }

  /** About how much memory the records take. */
  get eventLogBytes(): number {
    return this.#log?.bytes ?? 0;
  }

  /** The records kept, without so many of the oldest. */
  records(from: number): Iterable<LogRecord> {
    return this.#log?.records(from, this.read()) ?? [];
  }

  /** Drops so many of the oldest records. */
  forget(count: number): void {
    this.#log = this.#log?.without(count);
  }

  read(): Task {
    const lately = this.#lately?.deref();
    if (lately !== undefined) return lately;
    const task = this.readPart({ artifacts: true, history: true });
    const { artifacts, history } = this.#texts;
    const length = (artifacts?.length ?? 0) + (history?.length ?? 0);
    if (length > LARGE) this.#lately = new WeakRef(task);
    return task;
  }

  /** About how long the JSON is of what a reader wants. */
  bytesOf(wanted: WantedMembers): number {
    const { status, artifacts, history, metadata } = this.#texts;
    const large = (wanted.artifacts ? (artifacts?.length ?? 0) : 0) + (wanted.history ? (history?.length ?? 0) : 0);
    return FRAME + status.length + (metadata?.length ?? 0) + large;
  }

  readPart(wanted: WantedMembers): Task {
    const { status, artifacts, history, metadata } = this.#texts;
    const texts = {
      status,
      artifacts: wanted.artifacts ? artifacts : undefined,
      history: wanted.history ? history : undefined,
      metadata,
    };
    return ShapedTask.unread({ id: this.#id, contextId: this.#contextId, ...texts });
  }
}
