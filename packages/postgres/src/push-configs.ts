import type { ConfigChange, ConfigPut, PlacedPushConfig, Scope, StoredPushConfig } from 'parley-a2a/storage-engine';
import { hasRoom, type LockedTask, putConfig } from './push-queues.js';
import type { ReadSources } from './read-tasks.js';
import { indexForm, keyFields, type StoredScope } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/**
 * Locks a task until the transaction ends. Increases its version, because decisions depend on the number of its
 * configurations.
 */
const LOCK: Sql = {
  name: 'move-task',
  text: `UPDATE parley.task SET version = version + 1
    WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid
    RETURNING pk, part, seq, parley.now_ms() AS now`,
};

async function lockTask(
  tables: Tables,
  { part, hash }: StoredScope,
  taskId: string,
): Promise<(LockedTask & { readonly now: number }) | undefined> {
  const [task] = await tables.query<LockedTask & { readonly now: number }>(LOCK, part, hash, indexForm(taskId));
  return task;
}

/** Inserts or replaces a push configuration, within the limit of its task. Must run in a transaction. */
export async function putPushConfig(
  tables: Tables,
  scope: StoredScope,
  {
    config,
    limit,
  }: {
    readonly config: PlacedPushConfig;
    readonly limit: number | undefined;
  },
): Promise<ConfigPut> {
  const { id, taskId } = config;
  const task = await lockTask(tables, scope, taskId);
  if (task === undefined) return 'not-found';
  if (!(await hasRoom(tables, task, { id, limit }))) return 'full';
  await putConfig(tables, task, { id, config: JSON.stringify(config), position: task.seq, now: task.now });
  return 'put';
}

const DELETE: Sql = {
  name: 'delete-push-config',
  text: 'DELETE FROM parley.push_config WHERE task = $1 AND part = $2 AND id = $3',
};
const PUSHES: Sql = {
  name: 'task-pushes',
  text: `UPDATE parley.task SET pushes = EXISTS (SELECT FROM parley.push_config WHERE task = $1 AND part = $2)
    WHERE pk = $1 AND part = $2`,
};

/** Deletes a push configuration; false if the scope has no such task. Must run in a transaction. */
export async function deletePushConfig(
  tables: Tables,
  scope: StoredScope,
  { taskId, id }: { readonly taskId: string; readonly id: string },
): Promise<boolean> {
  const task = await lockTask(tables, scope, taskId);
  if (task === undefined) return false;
  await tables.query(DELETE, task.pk, task.part, indexForm(id));
  await tables.query(PUSHES, task.pk, task.part);
  return true;
}

const REWRITE: Sql = {
  name: 'rewrite-push-config',
  text: `UPDATE parley.push_config c SET config = $6 FROM parley.task t
    WHERE t.part = $1 AND t.scope IS NOT DISTINCT FROM $2::uuid AND t.id = $3
      AND c.task = t.pk AND c.part = t.part AND c.id = $4 AND c.config = $5
    RETURNING 1 AS done`,
};

/** Replaces the text of a push configuration; false if it is no longer the expected one. */
export async function rewriteConfig(tables: Tables, scope: StoredScope, { from, to }: ConfigChange): Promise<boolean> {
  const key = keyFields(scope, { id: from.taskId });
  const texts = [JSON.stringify(from), JSON.stringify(to)];
  const rows = await tables.query(REWRITE, key.part, key.scope, key.id, indexForm(from.id), ...texts);
  return rows.length > 0;
}

const PAGE: Sql = {
  name: 'read-push-configs',
  text: `SELECT c.config FROM parley.task t LEFT JOIN LATERAL (
      SELECT config, id FROM parley.push_config c
      WHERE c.task = t.pk AND c.part = t.part AND ($4::text IS NULL OR c.id > $4) AND ($5::text IS NULL OR c.id = $5)
      ORDER BY c.id LIMIT $6
    ) c ON true
    WHERE t.part = $1 AND t.id = $3 AND t.scope IS NOT DISTINCT FROM $2::uuid ORDER BY c.id`,
  repeatable: true,
};

/** A filter of the push configurations of a task. */
interface PushConfigQuery {
  readonly scope: Scope;
  readonly taskId: string;
  /** The id of the only one. */
  readonly id?: string;
  /** The id after which the range begins. */
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * Returns push configurations of a task, ordered by id; `undefined` if the scope has no such task. Skips those that
 * cannot be read.
 * @throws UnreadableTaskError if the query is for a single one that cannot be read.
 */
export async function readPushConfigs(
  { tables, scopes, unreadable }: ReadSources,
  query: PushConfigQuery,
): Promise<readonly StoredPushConfig[] | undefined> {
  const { cursor, limit } = query;
  const { part, scope, id } = keyFields(scopes.of(query.scope), { id: query.taskId });
  const rows = await tables.query<{ readonly config: string | null }>(
    PAGE,
    ...[part, scope, id],
    cursor === undefined ? null : indexForm(cursor),
    query.id === undefined ? null : indexForm(query.id),
    limit,
  );
  if (rows.length === 0) return undefined;
  const key = { scope: query.scope, id: query.taskId };
  return rows.flatMap(({ config }) => {
    if (config === null) return [];
    const parse = () => JSON.parse(config) as StoredPushConfig;
    const found = query.id === undefined ? unreadable.readable(key, parse) : unreadable.required(key, parse);
    return found ?? [];
  });
}
