import { dropKeysOf } from './remembered-keys.js';
import { removeTask } from './retention.js';
import { LIMIT } from './statements.js';
import type { BlockOwnerWrite, EraseOwnedResult, EraseOwnedWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Refuses new data of an owner until a time. */
export function blockOwner({ blocks }: WriteTables, [, { owner, until }]: BlockOwnerWrite): undefined {
  blocks.set(owner, until);
}

/** Erases a part of a scope: its tasks, then its keys, and at last its rows in the other tables. */
export function eraseOwned(tables: WriteTables, [, { scope, limit }]: EraseOwnedWrite): EraseOwnedResult {
  const { sql, heads } = tables;
  const pk = heads.scope(scope);
  if (pk === undefined) return { tasks: 0, keys: 0, ids: [], isGone: true };
  const found = sql.all<{ pk: number; id: string }>(`SELECT pk, id FROM task WHERE scope = ? ${LIMIT}`, pk, limit);
  const removed = found.filter((task) => sql.apart(task.pk, () => removeTask(tables, task.pk)) === true);
  const keys = dropKeysOf(tables, pk, { owner: scope[2], limit: limit - found.length });
  if (found.length + keys > 0) {
    return { tasks: removed.length, keys, ids: removed.map(({ id }) => id), isGone: false };
  }
  for (const table of ['task_count', 'context']) sql.run(`DELETE FROM ${table} WHERE scope = ?`, pk);
  sql.run('DELETE FROM scope WHERE pk = ?', pk);
  heads.forgetScope(scope);
  return { tasks: 0, keys, ids: [], isGone: true };
}
