import { type FinishedLog, type FinishedTasks, trimLog } from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';
import type { TaskLog } from './task-log.js';
import type { TaskRow } from './task-rows.js';

/** Maximum bytes of the log of a running task. Older changes are only in its snapshot. */
const LOG_BYTES = 16_777_216;

interface LogRow {
  readonly pk: number;
  readonly seq: number;
  readonly floor: number;
}

/** `pending`: 1 if the task has a pending delivery. */
interface OldLog extends LogRow {
  readonly ended: number;
  readonly pending: 0 | 1;
}

const IS_FINISHED_LOG = 'ended IS NOT NULL AND floor <= seq';
const OLD_LOGS = `SELECT pk, seq, floor, ended,
    EXISTS (SELECT 1 FROM push_queue q WHERE q.task = task.pk AND q.due IS NOT NULL) AS pending
  FROM task INDEXED BY task_log WHERE ${IS_FINISHED_LOG} AND ended < ? AND (ended, pk) > (?, ?)
  ORDER BY ended, pk LIMIT 200`;
const OLDEST_LOG = `SELECT pk, seq, floor FROM task INDEXED BY task_log WHERE ${IS_FINISHED_LOG} AND pk <> ?
  ORDER BY ended LIMIT 1`;

/** Limits the age of tasks and logs, and the bytes of all logs of finished tasks. */
export class Retention implements FinishedTasks {
  readonly #sql: ObjectSql;
  readonly #log: TaskLog;
  readonly #eventLogBytes: number;
  /** The bytes of all logs of finished tasks. Undefined until the first count. */
  #bytes: number | undefined;

  constructor(sql: ObjectSql, log: TaskLog, eventLogBytes: number) {
    this.#sql = sql;
    this.#log = log;
    this.#eventLogBytes = eventLogBytes;
  }

  /** Drops the cached counts, because a transaction was rolled back. */
  forgetSizes(): void {
    this.#bytes = undefined;
  }

  /** Counts a task that has ended. Deletes the oldest logs while all logs exceed the limit. */
  countEnded({ pk, bytes }: TaskRow): void {
    // The tables contain the task already.
    this.#bytes = this.#bytes === undefined ? this.#countBytes() : this.#bytes + bytes;
    while (this.#bytes > this.#eventLogBytes) {
      const oldest = this.#sql.get<LogRow>(OLDEST_LOG, pk);
      if (oldest === undefined) return;
      this.#bytes -= this.#log.drop(oldest.pk, oldest.seq + 1);
    }
  }

  /** Deletes the older half of the log of a long-running task, which has a snapshot of its last record. */
  trim(head: TaskRow): void {
    const { pk, seq: last, bytes } = head;
    const sizes = 'SELECT seq, bytes FROM record WHERE task = ? ORDER BY seq';
    const log = {
      ...{ last, bytes },
      records: () => this.#sql.all<{ seq: number; bytes: number }>(sizes, pk),
      cut: (floor: number) => {
        head.bytes -= this.#log.drop(pk, floor);
        head.floor = floor;
      },
    };
    trimLog(log, LOG_BYTES);
  }

  /** Deletes a task with its events, webhooks and idempotency keys. */
  remove(pk: number): void {
    const { bytes = 0 } =
      this.#sql.get<{ bytes: number }>('SELECT log_bytes AS bytes FROM task WHERE pk = ? AND ended IS NOT NULL', pk) ??
      {};
    if (this.#bytes !== undefined) this.#bytes -= bytes;
    for (const table of ['record', 'snapshot', 'turn', 'push_queue']) {
      this.#sql.run(`DELETE FROM ${table} WHERE task = ?`, pk);
    }
    this.#sql.run('DELETE FROM task WHERE pk = ?', pk);
  }

  setClockBack(now: number): void {
    this.#sql.run('UPDATE task SET ended = ? WHERE ended > ?', now, now);
  }

  sweepTasks(before: number, limit: number): number {
    const ended = 'SELECT pk FROM task INDEXED BY task_ended WHERE ended < ? ORDER BY ended LIMIT ?';
    const old = this.#sql.all<{ pk: number }>(ended, before, Math.max(0, limit));
    for (const { pk } of old) this.remove(pk);
    return old.length;
  }

  *logs(endedBefore: number): Generator<FinishedLog, void> {
    for (let [ended, pk] = [Number.MIN_SAFE_INTEGER, 0]; ; ) {
      const batch = this.#sql.all<OldLog>(OLD_LOGS, endedBefore, ended, pk);
      for (const log of batch) {
        yield { endedAt: log.ended, isPending: log.pending === 1, drop: (limit) => this.#drop(log, limit) };
      }
      const last = batch.at(-1);
      if (last === undefined) return;
      ({ ended, pk } = last);
    }
  }

  #drop({ pk, seq, floor }: LogRow, limit: number): number {
    const count = Math.min(seq - floor + 1, limit);
    const freed = this.#log.drop(pk, floor + count);
    if (this.#bytes !== undefined) this.#bytes -= freed;
    return count;
  }

  #countBytes(): number {
    const sum = `SELECT sum(log_bytes) AS bytes FROM task INDEXED BY task_log WHERE ${IS_FINISHED_LOG}`;
    return this.#sql.get<{ bytes: number | null }>(sum)?.bytes ?? 0;
  }
}
