import type { WriteTables } from './write-tables.js';

/** Condition for the only task of a context. Values: the scope, and the id of the context. */
export const ALONE = 'scope = ? AND context_id = ? AND context IS NULL';

/**
 * Returns the number of a context for one more task, and counts it. `null` for the first task: a context gets its row
 * and its number with its second task.
 */
export function joinContext({ sql, counters }: WriteTables, scope: number, id: string): number | null {
  const known = sql.get<{ number: number }>(
    'UPDATE context SET tasks = tasks + 1 WHERE scope = ? AND id = ? RETURNING number',
    scope,
    id,
  );
  if (known !== undefined) return known.number;
  const first = sql.get<{ pk: number }>(`SELECT pk FROM task INDEXED BY task_alone WHERE ${ALONE}`, scope, id);
  if (first === undefined) return null;
  const number = counters.nextContext();
  sql.run('INSERT INTO context VALUES (?, ?, ?, 2)', scope, id, number);
  sql.run('UPDATE task SET context = ? WHERE pk = ?', number, first.pk);
  return number;
}

/** Subtracts a task from a context with a row. */
export function leaveContext({ sql }: WriteTables, scope: number, id: string): void {
  const left = sql.get<{ tasks: number }>(
    'UPDATE context SET tasks = tasks - 1 WHERE scope = ? AND id = ? RETURNING tasks',
    scope,
    id,
  );
  if (left?.tasks === 0) sql.run('DELETE FROM context WHERE scope = ? AND id = ?', scope, id);
}
