import { eraseOwned as eraseRows, type OwnedRows } from '../engine/erase-owned.js';
import { LIMIT } from './list-sql.js';
import { dropKeysOf } from './remembered-keys.js';
import { removeTask } from './retention.js';
import type { BlockOwnerWrite, EraseOwnedResult, EraseOwnedWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Refuses new data of an owner until a time. */
export function blockOwner({ blocks }: WriteTables, [, { owner, until }]: BlockOwnerWrite): undefined {
  blocks.set(owner, until);
}

/** Erases a part of a scope. Skips a task with damaged rows. */
export function eraseOwned(tables: WriteTables, [, { scope, limit }]: EraseOwnedWrite): EraseOwnedResult {
  const { sql, heads } = tables;
  const pk = heads.scope(scope);
  if (pk === undefined) return { tasks: 0, keys: 0, ids: [], isGone: true };
  const rows: OwnedRows = {
    tasks: (most) => {
      const found = sql.all<{ pk: number; id: string }>(`SELECT pk, id FROM task WHERE scope = ? ${LIMIT}`, pk, most);
      const removed = found.filter((task) => sql.apart(task.pk, () => removeTask(tables, task.pk)) === true);
      return { found: found.length, ids: removed.map(({ id }) => id) };
    },
    keys: (most) => dropKeysOf(tables, pk, { owner: scope[2], limit: most }),
    rest: () => {
      for (const table of ['task_count', 'context']) sql.run(`DELETE FROM ${table} WHERE scope = ?`, pk);
      sql.run('DELETE FROM scope WHERE pk = ?', pk);
      heads.forgetScope(scope);
      return 0;
    },
  };
  return eraseRows(rows, limit);
}
