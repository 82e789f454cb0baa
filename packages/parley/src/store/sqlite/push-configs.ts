import type { HeadRow } from './task-heads.js';
import type { DeletePushConfigWrite, PutPushConfigWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Adds or replaces a push configuration; false if the scope has no such task. */
export function putPushConfig(tables: WriteTables, [, { scope, taskId, id, config }]: PutPushConfigWrite): boolean {
  const head = tables.heads.find(scope, taskId);
  if (head !== undefined) putConfig(tables, head, [id, config]);
  return head !== undefined;
}

/** Removes a push configuration; false if the scope has no such task. */
export function deletePushConfig(tables: WriteTables, [, { scope, taskId, id }]: DeletePushConfigWrite): boolean {
  const head = tables.heads.find(scope, taskId);
  if (head !== undefined) tables.sql.run('DELETE FROM push_config WHERE task = ? AND id = ?', head.pk, id);
  return head !== undefined;
}

/** Adds or replaces a push configuration of a task. */
export function putConfig(
  tables: WriteTables,
  head: HeadRow,
  [id, config]: readonly [id: string, config: string],
): void {
  tables.sql.run('INSERT OR REPLACE INTO push_config VALUES (?, ?, ?)', head.pk, id, config);
}
