import { keyStanding, REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-rules.js';
import { KEY_BYTES } from './counters.js';
import type { RememberWrite, ScopeFields } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

interface Gone {
  readonly bytes: number;
}

const RETURNING = `RETURNING ${KEY_BYTES} AS bytes`;
const OLDEST = 'SELECT scope, key FROM idempotency ORDER BY expires LIMIT 1';
const EXPIRED = 'SELECT scope, key FROM idempotency WHERE expires <= ? ORDER BY expires LIMIT ?';

/** A row of a key without its scope. */
export interface KeyRow {
  readonly key: string;
  readonly expiresAt: number;
  readonly digest: string;
  readonly task: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
}

/** The row of a key, unless the key has expired or its task is gone. */
export function recalledKey(
  { sql, heads }: WriteTables,
  { scope, key, now }: { readonly scope: ScopeFields; readonly key: string; readonly now: number },
): KeyRow | undefined {
  const scopePk = heads.scope(scope);
  if (scopePk === undefined) return undefined;
  const row = sql.get<KeyRow>(
    'SELECT key, expires AS expiresAt, digest, task, turn, reply FROM idempotency WHERE scope = ? AND key = ?',
    scopePk,
    key,
  );
  if (row === undefined) return undefined;
  const isTaskGone = row.task !== null && heads.find(scope, row.task) === undefined;
  const { expiresAt } = row;
  return keyStanding({ expiresAt, isTaskGone }, undefined, now) === 'free' ? undefined : row;
}

/** Keeps a direct reply. */
export function remember(tables: WriteTables, [, { scope, key, expiresAt, digest, reply }]: RememberWrite): undefined {
  rememberKey(tables, scope, { key, expiresAt, digest, task: null, turn: null, reply });
}

/** Keeps what a key led to. Where there is no room, the oldest keys go. */
export function rememberKey(tables: WriteTables, scope: ScopeFields, row: KeyRow): void {
  const { key, expiresAt, digest, task, turn, reply } = row;
  const scopePk = tables.heads.scopeOf(scope);
  forget(
    tables,
    tables.sql.all<Gone>(`DELETE FROM idempotency WHERE scope = ? AND key = ? ${RETURNING}`, scopePk, key),
  );
  const added = tables.sql.get<Gone>(
    `INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?) ${RETURNING}`,
    scopePk,
    key,
    expiresAt,
    digest,
    task,
    turn,
    reply,
  );
  tables.counters.changeRemembered(1, added?.bytes ?? 0);
  while (tables.counters.remembered.keys > REMEMBERED_LIMIT || tables.counters.remembered.bytes > REMEMBERED_BYTES) {
    const gone = tables.sql.all<Gone>(`DELETE FROM idempotency WHERE (scope, key) IN (${OLDEST}) ${RETURNING}`);
    if (forget(tables, gone) === 0) return;
  }
}

/** Removes keys that have expired, at most so many; how many went. */
export function sweepKeys(tables: WriteTables, now: number, limit: number): number {
  return forget(
    tables,
    tables.sql.all<Gone>(`DELETE FROM idempotency WHERE (scope, key) IN (${EXPIRED}) ${RETURNING}`, now, limit),
  );
}

function forget(tables: WriteTables, gone: readonly Gone[]): number {
  for (const { bytes } of gone) tables.counters.changeRemembered(-1, -bytes);
  return gone.length;
}
