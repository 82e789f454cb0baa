import { type ConfigCount, hasRoomFor } from '../engine/accept-message.js';
import type { ConfigPut } from '../push-storage.js';
import { dropQueue, putQueue } from './delivery-queues.js';
import type { HeadRow } from './task-heads.js';
import type { DeletePushConfigWrite, PutPushConfigWrite, RewriteConfigWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Inserts or replaces a push configuration, within the limit of its task. */
export function putPushConfig(tables: WriteTables, [, write]: PutPushConfigWrite): ConfigPut {
  const { scope, taskId, id, config, limit, now } = write;
  const head = tables.heads.find(scope, taskId);
  if (head === undefined) return 'not-found';
  const counted = { countConfigs: (task: HeadRow, of: string) => countConfigs(tables, task, of) };
  if (!hasRoomFor(counted, head, { id, limit: limit ?? undefined })) return 'full';
  putConfig(tables, head, { id, config, position: head.seq, now });
  return 'put';
}

/** Counts the push configurations of a task. */
export function countConfigs({ sql }: WriteTables, { pk }: HeadRow, id: string): ConfigCount {
  const query = 'SELECT count(*) AS count, count(CASE WHEN id = ? THEN 1 END) AS known FROM push_config WHERE task = ?';
  const { count = 0, known = 0 } = sql.get<{ count: number; known: number }>(query, id, pk) ?? {};
  return { count, isKnown: known > 0 };
}

/** Deletes a push configuration; false if the scope has no such task. */
export function deletePushConfig(tables: WriteTables, [, { scope, taskId, id }]: DeletePushConfigWrite): boolean {
  const head = tables.heads.find(scope, taskId);
  if (head === undefined) return false;
  tables.sql.run('DELETE FROM push_config WHERE task = ? AND id = ?', head.pk, id);
  dropQueue(tables, head, id);
  return true;
}

/** Replaces the text of a push configuration; false if it is no longer the expected one. */
export function rewriteConfig({ sql, heads }: WriteTables, [, { queue, from, to }]: RewriteConfigWrite): boolean {
  const head = heads.find(queue.scope, queue.taskId);
  if (head === undefined) return false;
  const same = 'SELECT 1 FROM push_config WHERE task = ? AND id = ? AND config = ?';
  if (sql.get(same, head.pk, queue.configId, from) === undefined) return false;
  sql.run('UPDATE push_config SET config = ? WHERE task = ? AND id = ?', to, head.pk, queue.configId);
  return true;
}

/** Inserts or replaces a push configuration of a task. The queue of a new one begins after `position`. */
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
