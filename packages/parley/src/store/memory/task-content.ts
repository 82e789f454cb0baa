import type { Task } from '../../model/task.js';
import { eventBytes, taskBytes } from '../../task/event-bytes.js';
import type { LogRecord } from '../../task/log-record.js';
import { type MemberTexts, ShapedTask } from '../../task/shaped-task.js';
import { type StatusAndMetadata, TaskBuilder } from '../../task/task-builder.js';
import { trimLog } from '../engine/sweep.js';
import { PackedLog } from './packed-log.js';

/** The large members that a reader wants. */
interface WantedMembers {
  readonly artifacts: boolean;
  readonly history: boolean;
}

/** Above this length, parsing a task again costs more than keeping a weak reference to it. */
const LARGE = 16_384;

/** Approximate bytes of a task without its large members. */
const FRAME = 200;
/** Approximate bytes of the lists and indexes for one task. */
const ENTRY = 1_000;

/** Maximum bytes of the log of an open task. Older changes are only in the task. */
const LOG_BYTES = 16_777_216;

/** A task with its log. A read folds the log up to the last record. */
export class LiveTask {
  #task: Task;
  /** Number of the last records that are not yet folded into `#task`. */
  #pending = 0;
  #head: StatusAndMetadata;
  #records: LogRecord[];
  /** Approximate bytes in memory. The records stay beside the task that contains their changes: both are counted. */
  bytes: number;
  /** Approximate bytes of the records. */
  #logBytes = 0;
  /** The task of the last measurement. */
  #measured: { readonly task: Task; readonly bytes: number } | undefined = undefined;

  constructor(task: Task, first: LogRecord) {
    this.#task = task;
    this.#head = task as StatusAndMetadata;
    this.#records = [first];
    this.bytes = ENTRY + eventBytes(first.event);
  }

  get recordCount(): number {
    return this.#records.length;
  }

  /** The records that are kept, without the first `from` ones. */
  records(from: number): Iterable<LogRecord> {
    return this.#records.slice(from);
  }

  append(records: readonly LogRecord[], head: StatusAndMetadata, snapshot: Task | undefined): void {
    for (const record of records) {
      this.#records.push(record);
      this.bytes += 2 * record.bytes;
      this.#logBytes += record.bytes;
    }
    this.#head = head;
    if (snapshot === undefined) {
      this.#pending += records.length;
    } else {
      this.#task = snapshot;
      this.#pending = 0;
      if (this.#logBytes > LOG_BYTES) this.#trim();
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

  /** Approximate length of the JSON of the wanted members. */
  bytesOf(wanted: WantedMembers): number {
    const task = wanted.artifacts || wanted.history ? this.read() : undefined;
    if (task === undefined) return FRAME;
    if (this.#measured?.task !== task) this.#measured = { task, bytes: taskBytes(task) };
    return this.#measured.bytes;
  }

  /** Drops the oldest records, so that an endless agent does not fill the memory. */
  #trim(): void {
    const log = {
      last: this.#records.at(-1)?.seq ?? 0,
      bytes: this.#logBytes,
      records: () => this.#records,
      cut: (floor: number, bytes: number) => {
        this.bytes -= bytes;
        this.#logBytes -= bytes;
        this.#records = this.#records.filter(({ seq }) => seq >= floor);
      },
    };
    trimLog(log, LOG_BYTES);
  }

  /** Returns the task and its log as text, for a finished task. */
  pack(): PackedTask {
    return new PackedTask(this.read(), this.#records);
  }
}

/** A finished task as text: a few strings cost the garbage collector far less than many objects. */
export class PackedTask {
  readonly #id: string;
  readonly #contextId: string | undefined;
  readonly #texts: MemberTexts;
  #log: PackedLog | undefined;
  /** A large task after a read, until the garbage collector frees it. */
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

  /** Approximate bytes in memory. */
  get bytes(): number {
    return ENTRY + this.bytesOf({ artifacts: true, history: true }) + this.eventLogBytes;
  }

  /** Approximate bytes of the records. */
  get eventLogBytes(): number {
    return this.#log?.bytes ?? 0;
  }

  /** The records that are kept, without the first `from` ones. */
  records(from: number): Iterable<LogRecord> {
    return this.#log?.records(from, this.read()) ?? [];
  }

  /** Drops the oldest records. */
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

  /** Approximate length of the JSON of the wanted members. */
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
