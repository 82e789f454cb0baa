import { dropQueue, putQueue } from './delivery-queues.js';
import type { HeadRow } from './task-heads.js';
import type { DeletePushConfigWrite, PutPushConfigWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Adds or replaces a push configuration; false if the scope has no such task. */
export function putPushConfig(tables: WriteTables, [, write]: PutPushConfigWrite): boolean {
  const { scope, taskId, id, config, now } = write;
  const head = tables.heads.find(scope, taskId);
  if (head !== undefined) putConfig(tables, head, { id, config, position: head.seq, now });
  return head !== undefined;
}

/** Removes a push configuration; false if the scope has no such task. */
export function deletePushConfig(tables: WriteTables, [, { scope, taskId, id }]: DeletePushConfigWrite): boolean {
  const head = tables.heads.find(scope, taskId);
  if (head === undefined) return false;
  tables.sql.run('DELETE FROM push_config WHERE task = ? AND id = ?', head.pk, id);
  dropQueue(tables, head, id);
  return true;
}

/** Adds or replaces a push configuration of a task. A new one has a queue that begins behind `position`. */
export function putConfig(
  tables: WriteTables,
  head: HeadRow,
  put: { readonly id: string; readonly config: string; readonly position: number; readonly now: number },
): void {
  const { id, config, position, now } = put;
  const same = 'SELECT 1 FROM push_config WHERE task = ? AND id = ? AND config = ?';
  if (tables.sql.get(same, head.pk, id, config) !== undefined) return;
  tables.sql.run('INSERT OR REPLACE INTO push_config VALUES (?, ?, ?)', head.pk, id, config);
  putQueue(tables, head, { config: id, position, now });
}
