import type { Task } from '../../model/task.js';
import { eventBytes, taskBytes } from '../../task/event-bytes.js';
import type { LogRecord } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { type StatusAndMetadata, TaskBuilder } from '../../task/task-builder.js';
import { trimLog } from '../engine/sweep.js';

/** The large members that a reader wants. */
export interface WantedMembers {
  readonly artifacts: boolean;
  readonly history: boolean;
}

/** Approximate bytes of a task without its large members. */
export const FRAME = 200;
/** Approximate bytes of the lists and indexes for one task. */
export const ENTRY = 1_000;

/** Maximum bytes of the log of an open task. Older changes are only in the task. */
const LOG_BYTES = 16_777_216;

/** A task whose content is asked for. `seq`: its last record. `place`: its place in the content. */
export interface ContentOwner {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly seq: number;
  readonly place: number;
  /** A large task after a read, until the garbage collector frees it. */
  lately: WeakRef<Task> | undefined;
}

/** The content of one task, or of several. */
export interface TaskContent {
  /** Number of records that are kept. */
  recordCount(of: ContentOwner): number;
  /** Approximate bytes in memory. */
  bytes(of: ContentOwner): number;
  /** The records that are kept, without the first `skipped` ones. */
  records(of: ContentOwner, skipped: number): Iterable<LogRecord>;
  read(of: ContentOwner): Task;
  readPart(of: ContentOwner, wanted: WantedMembers): Task;
  /** Approximate length of the JSON of the wanted members. */
  bytesOf(of: ContentOwner, wanted: WantedMembers): number;
}

/** A task as objects. A read folds the log up to the last record. */
export class LiveTask implements TaskContent {
  #task: Task;
  /** Number of the last records that are not yet folded into `#task`. */
  #pending = 0;
  #head: StatusAndMetadata;
  #records: LogRecord[];
  /** The records stay beside the task that contains their changes: both are counted. */
  #bytes: number;
  /** Approximate bytes of the records. */
  #logBytes = 0;
  /** The task of the last measurement. */
  #measured: { readonly task: Task; readonly bytes: number } | undefined = undefined;

  constructor(task: Task, first: LogRecord) {
    this.#task = task;
    this.#head = task as StatusAndMetadata;
    this.#records = [first];
    this.#bytes = ENTRY + eventBytes(first.event);
  }

  recordCount(): number {
    return this.#records.length;
  }

  bytes(): number {
    return this.#bytes;
  }

  records(_of: ContentOwner, skipped: number): readonly LogRecord[] {
    return skipped === 0 ? this.#records : this.#records.slice(skipped);
  }

  append(records: readonly LogRecord[], head: StatusAndMetadata, snapshot: Task | undefined): void {
    for (const record of records) {
      this.#records.push(record);
      this.#bytes += 2 * record.bytes;
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

  readPart(_of: ContentOwner, wanted: WantedMembers): Task {
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

  bytesOf(_of: ContentOwner, wanted: WantedMembers): number {
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
        this.#bytes -= bytes;
        this.#logBytes -= bytes;
        this.#records = this.#records.filter(({ seq }) => seq >= floor);
      },
    };
    trimLog(log, LOG_BYTES);
  }
}
