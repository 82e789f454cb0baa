import type { Message } from '../../model/message.js';
import { keyIfKnown } from '../engine/message-keys.js';
import type { Remembered } from '../idempotency-keys.js';
import type { StoredPushConfig } from '../push-storage.js';
import type { Scope } from '../task-key.js';
import { LIMIT } from './list-sql.js';
import type { ReadTables } from './read-tables.js';

interface OutcomeRow {
  readonly digest: string;
  readonly task: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
}

interface KeyRow extends OutcomeRow {
  readonly expiresAt: number;
  readonly node: string | null;
  readonly leaseEnd: number | null;
  readonly isTaskGone: 0 | 1;
}

const IN_SCOPE = 'JOIN agent a ON a.pk = s.agent WHERE a.name = ? AND s.tenant = ? AND s.owner IS ?';
const RECALL = `SELECT i.digest, i.task, i.turn, i.reply, i.expires AS expiresAt, i.node, i.lease_end AS leaseEnd,
    i.task IS NOT NULL AND NOT EXISTS (SELECT 1 FROM task t WHERE t.id = i.task AND t.scope = i.scope) AS isTaskGone
  FROM idempotency i JOIN scope s ON s.pk = i.scope ${IN_SCOPE} AND i.key = ?`;
const TASK = `SELECT t.pk FROM task t JOIN scope s ON s.pk = t.scope ${IN_SCOPE} AND t.id = ?`;
const CONFIG = `SELECT c.config FROM push_config c JOIN task t ON t.pk = c.task JOIN scope s ON s.pk = t.scope
  ${IN_SCOPE} AND t.id = ? AND c.id = ?`;

/** Reads the outcome of a key, unless the key has expired or its task was deleted. */
export function readRemembered(
  tables: ReadTables,
  options: { readonly scope: Scope; readonly key: string; readonly now: number },
): Remembered | undefined {
  const { agent, tenant, owner } = options.scope;
  const row = tables.get<KeyRow>(RECALL, agent, tenant, owner, options.key);
  if (row === undefined) return undefined;
  const { expiresAt, node, leaseEnd } = row;
  const reservation = node === null ? undefined : { node, leaseEnd: leaseEnd ?? 0 };
  const known = keyIfKnown({ expiresAt, reservation, isTaskGone: row.isTaskGone === 1 }, options.now);
  return known && rememberedOf(row);
}

/** Returns the outcome in a row of the table. */
export function rememberedOf({ digest, task, turn, reply }: OutcomeRow): Remembered {
  return {
    digest,
    outcome: reply === null ? { taskId: task ?? '', turn: turn ?? 0 } : { reply: JSON.parse(reply) as Message },
  };
}

/** Reads a page of the push configurations of a task, ordered by id; `undefined` if the scope has no such task. */
export function readPushConfigs(
  tables: ReadTables,
  options: {
    readonly scope: Scope;
    readonly taskId: string;
    readonly cursor: string | undefined;
    readonly limit: number;
  },
): readonly StoredPushConfig[] | undefined {
  const { cursor, limit } = options;
  return tables.together(() => {
    const task = taskOf(tables, options);
    if (task === undefined) return undefined;
    const rows =
      cursor === undefined
        ? tables.all<{ config: string }>(
            `SELECT config FROM push_config WHERE task = ? ORDER BY id ${LIMIT}`,
            task,
            limit,
          )
        : tables.all<{ config: string }>(
            `SELECT config FROM push_config WHERE task = ? AND id > ? ORDER BY id ${LIMIT}`,
            task,
            cursor,
            limit,
          );
    return rows.flatMap(({ config }) => {
      const found = tables.apart(options.taskId, () => JSON.parse(config) as StoredPushConfig);
      return found ?? [];
    });
  });
}

/** Reads one push configuration of a task. */
export function readPushConfig(
  tables: ReadTables,
  options: { readonly scope: Scope; readonly taskId: string; readonly id: string },
): StoredPushConfig | undefined {
  const { scope, taskId, id } = options;
  const row = tables.get<{ config: string }>(CONFIG, scope.agent, scope.tenant, scope.owner, taskId, id);
  return row && (JSON.parse(row.config) as StoredPushConfig);
}

function taskOf(tables: ReadTables, { scope, taskId }: { scope: Scope; taskId: string }): number | undefined {
  return tables.get<{ pk: number }>(TASK, scope.agent, scope.tenant, scope.owner, taskId)?.pk;
}
