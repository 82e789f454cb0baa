import type { DeleteOperation, SweepOperation } from './operations.js';
import { OF_TASK } from './record-keys.js';
import { sweepKeys } from './remembered-keys.js';
import { dropTail, TAIL_COLUMNS, type Tail } from './tails.js';
import { isRunning } from './task-turns.js';
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

/** Removes a task with all that hangs on it, unless a turn runs. */
export function deleteTask(
  tables: WriteTables,
  [, scope, now, taskId]: DeleteOperation,
): 'deleted' | 'not-found' | 'running' {
  const head = tables.head(scope, taskId);
  if (head === undefined) return 'not-found';
  if (isRunning(head, now)) return 'running';
  const { pk, state, contextId } = head;
  remove(tables, { pk, id: taskId, scope: head.scope, state, contextId });
  return 'deleted';
}

/** Removes what has been kept long enough, at most so many rows. */
export function sweep(
  tables: WriteTables,
  [, finishedBefore, eventLogsBefore, now, limit]: SweepOperation,
): readonly [tasks: number, records: number, keys: number, more: boolean] {
  tables.setClockBack(now);
  const keys = tables.apart('expired idempotency keys', () => sweepKeys(tables, now, limit)) ?? 0;
  const tails = { before: Math.max(eventLogsBefore, finishedBefore), now, limit: limit - keys };
  const records = tables.apart('event logs of finished tasks', () => sweepTails(tables, tails)) ?? 0;
  const tasks = sweepFinished(tables, finishedBefore, limit - keys - records);
  return [tasks, records, keys, keys + records + tasks >= limit];
}

function sweepTails(
  tables: WriteTables,
  { before, now, limit }: { readonly before: number; readonly now: number; readonly limit: number },
): number {
  const from = tables.sweptUntil();
  let dropped = 0;
  let until = Math.max(from, Math.min(before, now));
  const tails = tables.all<Tail>(
    `SELECT ${TAIL_COLUMNS} FROM task WHERE ended >= ? AND ended < ? AND floor <= seq ORDER BY ended LIMIT ?`,
    from,
    before,
    Math.max(0, limit) + 1,
  );
  for (const tail of tails) {
    dropped += tables.apart(tail.pk, () => dropTail(tables, tail, limit - dropped)) ?? 0;
    if (dropped >= limit) {
      until = tail.ended;
      break;
    }
  }
  // Damaged logs stay, so that a full stretch may end before the limit.
  if (tails.length > limit) until = Math.min(until, tails.at(-1)?.ended ?? until);
  if (until > from) tables.setSweptUntil(until);
  return dropped;
}

function sweepFinished(tables: WriteTables, before: number, limit: number): number {
  let removed = 0;
  for (const pk of endedBefore(tables, before, limit)) {
    const isRemoved = tables.apart(pk, () => {
      const task = tables.get<Removable>(REMOVABLE, pk);
      if (task === undefined) return false;
      remove(tables, task);
      return true;
    });
    if (isRemoved === true) removed += 1;
  }
  return removed;
}

/**
 * The numbers of at most so many tasks that ended before a time. The index alone is read, and no damaged task hides the
 * next.
 */
function endedBefore(tables: WriteTables, before: number, limit: number): readonly number[] {
  const found: number[] = [];
  if (limit <= 0) return found;
  for (const { pk } of tables.each<{ pk: number }>(FINISHED, before)) {
    if (!tables.isAside(pk)) found.push(pk);
    if (found.length >= limit) break;
  }
  return found;
}

function remove(tables: WriteTables, task: Removable): void {
  tables.run(`DELETE FROM task_record WHERE ${OF_TASK}`, task.pk, task.pk);
  for (const table of ['snapshot', 'execution', 'push_config']) {
    tables.run(`DELETE FROM ${table} WHERE task = ?`, task.pk);
  }
  const gone = tables.get<{ ended: number | null; bytes: number }>(
    'DELETE FROM task WHERE pk = ? RETURNING ended, bytes',
    task.pk,
  );
  if (gone !== undefined && gone.ended !== null) tables.changeTails(-gone.bytes);
  tables.count(task.scope, task.state, -1);
  tables.forget(task.scope, task.id);
  if (task.contextId === null) return;
  const { scope, contextId } = task;
  const left = tables.get<{ tasks: number }>(
    'UPDATE context SET tasks = tasks - 1 WHERE scope = ? AND id = ? RETURNING tasks',
    scope,
    contextId,
  );
  if (left?.tasks === 0) tables.run('DELETE FROM context WHERE scope = ? AND id = ?', scope, contextId);
}
