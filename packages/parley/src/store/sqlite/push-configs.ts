import type { DeletePushConfigOperation, PutPushConfigOperation } from './operations.js';
import type { TaskHead, WriteTables } from './write-tables.js';

/** Adds or replaces a push configuration; false if the scope has no such task. */
export function putPushConfig(tables: WriteTables, [, scope, taskId, id, config]: PutPushConfigOperation): boolean {
  const head = tables.head(scope, taskId);
  if (head !== undefined) putConfig(tables, head, [id, config]);
  return head !== undefined;
}

/** Removes a push configuration; false if the scope has no such task. */
export function deletePushConfig(tables: WriteTables, [, scope, taskId, id]: DeletePushConfigOperation): boolean {
  const head = tables.head(scope, taskId);
  if (head !== undefined) tables.run('DELETE FROM push_config WHERE task = ? AND id = ?', head.pk, id);
  return head !== undefined;
}

/** Adds or replaces a push configuration of a task. */
export function putConfig(
  tables: WriteTables,
  head: TaskHead,
  [id, config]: readonly [id: string, config: string],
): void {
  tables.run('INSERT OR REPLACE INTO push_config VALUES (?, ?, ?)', head.pk, id, config);
}
