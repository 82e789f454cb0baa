import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { Message } from '../../model/message.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, Remembered, Reservation } from '../idempotency-keys.js';
import { type KeyStanding, keyStanding } from '../rules/decide-key.js';
import {
  indexForm,
  isBlocked,
  nameOf,
  type StoredScope,
  scopeColumns,
  storedName,
  textOfName,
} from './stored-names.js';
import type { Sql, SqlValue, Tables } from './tables.js';

interface KeyRow {
  readonly now: number;
  readonly expires: number;
  readonly digest: string;
  readonly task_id: string | null;
  readonly full_task_id: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
  readonly node: string | null;
  readonly lease_end: number | null;
  readonly task_gone: boolean;
}

/** A key that a transaction has locked, and its standing for a node. */
export interface LockedKey {
  readonly standing: KeyStanding;
  readonly now: number;
  /** The outcome of a key that is known. */
  readonly first: Remembered;
  readonly digest: string;
}

const GONE = `task_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM parley.task t WHERE t.part = k.part AND t.id = k.task_id AND t.scope IS NOT DISTINCT FROM k.scope) AS task_gone`;
const COLUMNS = 'expires, digest, task_id, full_task_id, turn, reply, node, lease_end';
/**
 * A key without a row gets one that has expired. The row locks the key until the transaction ends. There is no answer
 * for an owner who is blocked.
 */
const LOCK: Sql = {
  name: 'lock-key',
  text: `INSERT INTO parley.idempotency AS k (scope, key, part, expires, digest, agent, tenant, owner)
    SELECT $1::uuid, $2, $3::smallint, 0, '', $4::text, $5::text, $6::text WHERE NOT ${isBlocked('$4', '$5', '$6')}
    ON CONFLICT (scope, key, part) DO UPDATE SET expires = k.expires
    RETURNING parley.now_ms() AS now, ${COLUMNS}`,
};
// A statement of its own: the one that locks does not see a task that was stored while it waited for the lock.
const TASK_GONE: Sql = {
  name: 'task-of-key-gone',
  text: `SELECT ${GONE} FROM parley.idempotency k WHERE k.scope = $1 AND k.key = $2 AND k.part = $3`,
};

/** Locks a key until the transaction ends. */
export async function lockKey(
  tables: Tables,
  scope: StoredScope,
  { key, node }: { readonly key: string; readonly node: string | undefined },
): Promise<LockedKey> {
  const at = [scope.hash, indexForm(key), scope.part] as const;
  const [row] = await tables.query<Omit<KeyRow, 'task_gone'>>(LOCK, ...at, ...scopeColumns(scope.scope));
  if (row === undefined) throw new OwnerBlockedError();
  const [task] = row.task_id === null ? [] : await tables.query<Pick<KeyRow, 'task_gone'>>(TASK_GONE, ...at);
  const standing = standingOf({ ...row, task_gone: task?.task_gone === true }, node);
  return { standing, now: row.now, first: rememberedOf(row), digest: row.digest };
}

/** The standing of a key for a node. */
function standingOf({ now, expires, lease_end: leaseEnd, ...row }: KeyRow, node: string | undefined): KeyStanding {
  const reservation = leaseEnd === null ? undefined : { node: nameOf(row.node ?? ''), leaseEnd };
  return keyStanding({ expiresAt: expires, reservation, isTaskGone: row.task_gone }, node, now);
}

const WRITE: Sql = {
  name: 'write-key',
  text: `UPDATE parley.idempotency SET expires = $4, digest = $5, task_id = $6, full_task_id = $7, turn = $8, reply = $9,
      node = $10, lease_end = $11
    WHERE scope = $1 AND key = $2 AND part = $3`,
};

/** The values of a key that is written. */
export interface KeyOutcome {
  readonly expires: number;
  readonly digest: string;
  readonly taskId?: string;
  readonly full?: string | null;
  readonly turn?: number;
  readonly reply?: string;
  readonly node?: string;
  readonly leaseEnd?: number;
}

/** Writes a locked key. */
export async function writeKey(
  tables: Tables,
  scope: StoredScope,
  key: string,
  { expires, digest, taskId, full, turn, reply, node, leaseEnd }: KeyOutcome,
): Promise<void> {
  const outcome: SqlValue[] = [taskId ?? null, full ?? null, turn ?? null, reply ?? null];
  const lease: SqlValue[] = [node === undefined ? null : textOfName(node), leaseEnd ?? null];
  await tables.query(WRITE, scope.hash, indexForm(key), scope.part, expires, digest, ...outcome, ...lease);
}

const DROP: Sql = {
  name: 'drop-unused-key',
  text: 'DELETE FROM parley.idempotency WHERE scope = $1 AND key = $2 AND part = $3 AND expires = 0',
};

/** Removes the row of a locked key that was not known before. */
export async function dropUnusedKey(tables: Tables, scope: StoredScope, key: string): Promise<void> {
  await tables.query(DROP, scope.hash, indexForm(key), scope.part);
}

/**
 * True for a key `k` that the node of an inserted row may write, in a statement with the time as `clock`. It says less
 * than the rule: a key whose task is gone counts as known.
 */
export const KEY_IS_FREE = `(k.expires <= (SELECT now FROM clock) OR k.lease_end <= (SELECT now FROM clock)
  OR k.lease_end IS NOT NULL AND k.node = excluded.node)`;

const INSERT = `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now)
  INSERT INTO parley.idempotency AS k (scope, key, part, expires, digest, reply, node, lease_end, agent, tenant,
    owner)
  SELECT $1::uuid, $2, $3::smallint, now + $4::bigint, $5, $6, $7, now + $8::bigint, $9::text, $10::text, $11::text
  FROM clock WHERE NOT ${isBlocked('$9', '$10', '$11')}
  ON CONFLICT (scope, key, part) DO UPDATE SET expires = excluded.expires, digest = excluded.digest, task_id = NULL,
    full_task_id = NULL, turn = NULL, reply = excluded.reply, node = excluded.node, lease_end = excluded.lease_end,
    agent = excluded.agent, tenant = excluded.tenant, owner = excluded.owner`;
/** Both write nothing if the key may be known, or reserved by another node. */
const RESERVE: Sql = {
  name: 'reserve-key',
  text: `${INSERT}
  WHERE ${KEY_IS_FREE} RETURNING true AS written`,
};
const REMEMBER: Sql = {
  name: 'remember-key',
  text: `${INSERT}
  WHERE k.expires <= (SELECT now FROM clock) OR k.lease_end IS NOT NULL
  RETURNING true AS written`,
};

/** Reserves a key. `undefined` if that needs a lock. */
export async function reservePlain(
  tables: Tables,
  scope: StoredScope,
  { key: { key, ttlMs, digest }, lease }: { readonly key: IdempotencyKey; readonly lease: Lease },
): Promise<Reservation | undefined> {
  const at = [scope.hash, indexForm(key), scope.part, ttlMs, digest] as const;
  const values = [...at, null, textOfName(lease.node), lease.leaseMs, ...scopeColumns(scope.scope)];
  const rows = await tables.query(RESERVE, ...values);
  return rows.length > 0 ? { kind: 'reserved' } : undefined;
}

/** Reserves a key, unless its outcome is known or another node finds it out. Runs in a transaction. */
export async function reserveLocked(
  tables: Tables,
  scope: StoredScope,
  { key: { key, ttlMs, digest }, lease }: { readonly key: IdempotencyKey; readonly lease: Lease },
): Promise<Reservation> {
  const { node, leaseMs } = lease;
  const locked = await lockKey(tables, scope, { key, node });
  if (locked.standing === 'known') return { kind: 'known', first: locked.first };
  if (locked.standing === 'reserved') return { kind: 'taken', digest: locked.digest };
  const { now } = locked;
  await writeKey(tables, scope, key, { expires: now + ttlMs, digest, node, leaseEnd: now + leaseMs });
  return { kind: 'reserved' };
}

/** Keeps a direct reply. `undefined` if that needs a lock. */
export async function rememberPlain(
  tables: Tables,
  scope: StoredScope,
  { key: { key, ttlMs, digest }, reply }: { readonly key: IdempotencyKey; readonly reply: Message },
): Promise<Remembered | undefined> {
  const at = [scope.hash, indexForm(key), scope.part, ttlMs, digest] as const;
  const values = [...at, JSON.stringify(reply), null, null, ...scopeColumns(scope.scope)];
  const rows = await tables.query(REMEMBER, ...values);
  return rows.length > 0 ? { digest, outcome: { reply } } : undefined;
}

/** Keeps a direct reply, unless an outcome is known: then that is the answer. Runs in a transaction. */
export async function rememberLocked(
  tables: Tables,
  scope: StoredScope,
  { key: { key, ttlMs, digest }, reply }: { readonly key: IdempotencyKey; readonly reply: Message },
): Promise<Remembered> {
  const locked = await lockKey(tables, scope, { key, node: undefined });
  if (locked.standing === 'known') return locked.first;
  const text = JSON.stringify(reply);
  await writeKey(tables, scope, key, { expires: locked.now + ttlMs, digest, reply: text });
  return { digest, outcome: { reply } };
}

const UNRESERVE: Sql = {
  name: 'unreserve-key',
  text: `DELETE FROM parley.idempotency
    WHERE scope = $1 AND key = $2 AND part = $3 AND node = $4 AND lease_end IS NOT NULL`,
};

/** Gives a reservation of a node back. */
export async function unreserve(
  tables: Tables,
  scope: StoredScope,
  { key, node }: { readonly key: string; readonly node: string },
): Promise<void> {
  await tables.query(UNRESERVE, scope.hash, indexForm(key), scope.part, textOfName(node));
}

const RECALL: Sql = {
  name: 'recall-key',
  text: `SELECT parley.now_ms() AS now, ${COLUMNS}, ${GONE} FROM parley.idempotency k
    WHERE scope = $1 AND key = $2 AND part = $3`,
  repeatable: true,
};

/** The known outcome of a key. */
export async function recall(tables: Tables, scope: StoredScope, key: string): Promise<Remembered | undefined> {
  const [row] = await tables.query<KeyRow>(RECALL, scope.hash, indexForm(key), scope.part);
  return row !== undefined && standingOf(row, undefined) === 'known' ? rememberedOf(row) : undefined;
}

type OutcomeColumns = Pick<KeyRow, 'digest' | 'task_id' | 'full_task_id' | 'turn' | 'reply'>;

function rememberedOf({ digest, task_id: id, full_task_id: full, turn, reply }: OutcomeColumns): Remembered {
  if (reply !== null) return { digest, outcome: { reply: JSON.parse(reply) as Message } };
  return { digest, outcome: { taskId: id === null ? '' : storedName(id, full), turn: turn ?? 0 } };
}
