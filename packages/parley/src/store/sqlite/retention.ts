import { deleteTask as deleteIdle } from '../engine/held-turns.js';
import { type FinishedLog, type SweptTables, sweep as sweepTables, trimLog as trimRunning } from '../engine/sweep.js';
import type { Swept } from '../task-storage.js';
import { leaveContext } from './contexts.js';
import { BELOW_SEQ, OF_TASK, SEQ_OF_KEY } from './record-keys.js';
import { sweepKeys } from './remembered-keys.js';
import type { HeadRow } from './task-heads.js';
import type { DeleteWrite, SweepWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

interface Removable {
  readonly pk: number;
  readonly id: string;
  readonly scope: number;
  readonly state: number;
  readonly contextId: string | null;
}

const REMOVABLE = 'SELECT pk, id, scope, state, context_id AS contextId FROM task WHERE pk = ?';
const FINISHED = 'SELECT pk FROM task INDEXED BY task_ended WHERE ended < ? ORDER BY ended';

/** Deletes a task with everything that belongs to it, unless a turn runs. */
export function deleteTask(
  tables: WriteTables,
  [, { scope, now, taskId }]: DeleteWrite,
): 'deleted' | 'not-found' | 'running' {
  const erase = ({ pk, state, contextId, scope: of }: HeadRow) =>
    remove(tables, { pk, id: taskId, scope: of, state, contextId });
  return deleteIdle(tables.heads.find(scope, taskId), erase, now);
}

/** Deletes rows past their retention, at most `limit`. */
export function sweep(tables: WriteTables, [, { retention, now }]: SweepWrite): Swept {
  const { sql, counters } = tables;
  const logs = new OldLogs(tables);
  const keys: SweptTables['keys'] = {
    sweep: (time, limit) => sql.apart('expired idempotency keys', () => sweepKeys(tables, time, limit)) ?? 0,
  };
  const finished: SweptTables['finished'] = {
    setClockBack: (time) => counters.setClockBack(time),
    logs: (endedBefore) => logs.before(endedBefore),
    sweepTasks: (before, limit) => sweepTasks(tables, before, limit),
  };
  const swept = sweepTables({ keys, finished }, retention, now);
  logs.noteSwept();
  return swept;
}

/** The logs of finished tasks for a sweep. Starts where the previous sweep stopped. */
class OldLogs {
  readonly #tables: WriteTables;
  readonly #from: number;
  /** No task that ended before this time has a log. */
  #sweptUntil: number;

  constructor(tables: WriteTables) {
    this.#tables = tables;
    this.#from = tables.counters.sweptUntil();
    this.#sweptUntil = this.#from;
  }

  *before(time: number): Generator<FinishedLog, void> {
    const { sql } = this.#tables;
    this.#sweptUntil = time;
    for (let [ended, pk] = [this.#from, 0]; ; ) {
      const read = () => sql.all<OldLog>(OLD_LOGS, time, ended, pk);
      const batch = sql.apart('event logs of finished tasks', read);
      if (batch === undefined) this.#sweptUntil = this.#from;
      for (const log of batch ?? []) yield this.#finished(log);
      const last = batch?.at(-1);
      if (last === undefined) return;
      ({ ended, pk } = last);
    }
  }

  noteSwept(): void {
    if (this.#sweptUntil > this.#from) this.#tables.counters.setSweptUntil(this.#sweptUntil);
  }

  /** Counts the log as remaining until it is completely deleted. */
  #finished(log: OldLog): FinishedLog {
    const { pk, seq, floor, ended, pending } = log;
    const until = this.#sweptUntil;
    this.#sweptUntil = Math.min(until, ended);
    const drop = (limit: number) => {
      const count = this.#tables.sql.apart(pk, () => dropLog(this.#tables, log, limit));
      // A damaged log stays, and does not block others.
      if (count === undefined || count > seq - floor) this.#sweptUntil = until;
      return count ?? 0;
    };
    return { endedAt: ended, isPending: pending === 1, drop };
  }
}

function sweepTasks(tables: WriteTables, before: number, limit: number): number {
  let removed = 0;
  for (const pk of endedBefore(tables, before, limit)) {
    if (tables.sql.apart(pk, () => removeTask(tables, pk)) === true) removed += 1;
  }
  return removed;
}

/**
 * Returns the numbers of at most `limit` tasks that ended before a time. Reads only the index, so a damaged task does
 * not hide the next ones.
 */
function endedBefore(tables: WriteTables, before: number, limit: number): readonly number[] {
  const found: number[] = [];
  if (limit <= 0) return found;
  for (const { pk } of tables.sql.each<{ pk: number }>(FINISHED, before)) {
    if (!tables.sql.isAside(pk)) found.push(pk);
    if (found.length >= limit) break;
  }
  return found;
}

/** Deletes a task by its number, in any state. Returns false if there is none. */
export function removeTask(tables: WriteTables, pk: number): boolean {
  const task = tables.sql.get<Removable>(REMOVABLE, pk);
  if (task === undefined) return false;
  remove(tables, task);
  return true;
}

function remove(tables: WriteTables, task: Removable): void {
  tables.sql.run(`DELETE FROM task_record WHERE ${OF_TASK}`, task.pk, task.pk);
  for (const table of ['snapshot', 'execution', 'push_config', 'push_delivery']) {
    tables.sql.run(`DELETE FROM ${table} WHERE task = ?`, task.pk);
  }
  const gone = tables.sql.get<{ ended: number | null; bytes: number; context: number | null }>(
    'DELETE FROM task WHERE pk = ? RETURNING ended, bytes, context',
    task.pk,
  );
  if (gone === undefined) return;
  if (gone.ended !== null) tables.counters.changeFinishedLogs(-gone.bytes);
  tables.counters.countTask(task.scope, task.state, -1);
  tables.heads.forget(task.scope, task.id);
  if (gone.context !== null && task.contextId !== null) leaveContext(tables, task.scope, task.contextId);
}

/** The row of the log of a finished task. */
interface LogRow {
  readonly pk: number;
  readonly seq: number;
  /** The lowest sequence number still kept; above `seq` when none is. */
  readonly floor: number;
  readonly ended: number;
  readonly bytes: number;
}

/** `pending`: 1 if the task has a pending delivery. */
interface OldLog extends LogRow {
  readonly pending: 0 | 1;
}

const LOG_COLUMNS = 'pk, seq, floor, ended, bytes';
const OLD_LOGS = `SELECT ${LOG_COLUMNS},
    EXISTS (SELECT 1 FROM push_delivery d WHERE d.task = task.pk AND d.due IS NOT NULL) AS pending
  FROM task INDEXED BY task_ended WHERE ended < ? AND (ended, pk) > (?, ?) AND floor <= seq ORDER BY ended, pk LIMIT 200`;

/** Maximum number of records that are deleted with one commit, to keep commits short. */
const TRIMMED_AT_ONCE = 500;

/** Deletes at most `limit` of the oldest records of a finished task. Returns their number. */
function dropLog(tables: WriteTables, { pk, seq, floor, bytes }: LogRow, limit: number): number {
  const count = Math.min(seq - floor + 1, limit);
  if (count <= 0) return 0;
  const freed = count === seq - floor + 1 ? bytes : Math.min(bytes, bytesBelow(tables, pk, floor + count));
  tables.sql.run(`DELETE FROM task_record WHERE ${BELOW_SEQ}`, pk, pk, floor + count);
  tables.sql.run('UPDATE task SET floor = ?, bytes = ? WHERE pk = ?', floor + count, bytes - freed, pk);
  tables.counters.changeFinishedLogs(-freed);
  return count;
}

/**
 * Deletes the logs of the earliest finished tasks while all logs exceed their limit; never the log of the given task.
 */
export function trimFinishedLogs(tables: WriteTables, except: number): void {
  let left = TRIMMED_AT_ONCE;
  while (left > 0 && tables.counters.finishedLogBytes > tables.limits.eventLogBytes) {
    const from = tables.counters.sweptUntil();
    const oldest = oldestLog(tables, from, except);
    if (oldest === undefined) return;
    // No log is left before this time, so the next sweep starts there.
    if (oldest.ended > from) tables.counters.setSweptUntil(oldest.ended);
    const limit = left;
    left -=
      tables.sql.apart(oldest.pk, () => {
        const log = tables.sql.get<LogRow>(`SELECT ${LOG_COLUMNS} FROM task WHERE pk = ?`, oldest.pk);
        return log === undefined ? 0 : dropLog(tables, log, limit);
      }) ?? 0;
  }
}

/** Returns the earliest finished task with a log. Reads only the index, and skips damaged rows. */
function oldestLog(
  tables: WriteTables,
  from: number,
  except: number,
): { readonly pk: number; readonly ended: number } | undefined {
  const logs = tables.sql.each<{ pk: number; ended: number }>(
    'SELECT pk, ended FROM task INDEXED BY task_ended WHERE ended >= ? AND bytes > 0 AND floor <= seq AND pk <> ? ORDER BY ended',
    from,
    except,
  );
  for (const log of logs) if (!tables.sql.isAside(log.pk)) return log;
  return undefined;
}

/**
 * Deletes the older half of the log of an open task above its limit. The task must have a snapshot of its last record.
 */
export function trimLog({ sql, limits }: WriteTables, head: HeadRow): void {
  const { pk, seq: last, bytes } = head;
  const log = {
    ...{ last, bytes },
    records: () => sql.each<{ seq: number; bytes: number }>(SIZES, pk, pk),
    cut: (floor: number, freed: number) => {
      head.bytes = Math.max(0, bytes - freed);
      sql.run(`DELETE FROM task_record WHERE ${BELOW_SEQ}`, pk, pk, floor);
      sql.run('UPDATE task SET floor = ?, bytes = ? WHERE pk = ?', floor, head.bytes, pk);
    },
  };
  trimRunning(log, limits.logBytes);
}

const RECORD_BYTES = 'octet_length(event) + coalesce(octet_length(history), 0) + coalesce(octet_length(metadata), 0)';
const SIZES = `SELECT ${SEQ_OF_KEY} AS seq, ${RECORD_BYTES} AS bytes FROM task_record WHERE ${OF_TASK} ORDER BY key`;

function bytesBelow(tables: WriteTables, pk: number, floor: number): number {
  const sql = `SELECT sum(${RECORD_BYTES}) AS sum FROM task_record WHERE ${BELOW_SEQ}`;
  return tables.sql.get<{ sum: number | null }>(sql, pk, pk, floor)?.sum ?? 0;
}
