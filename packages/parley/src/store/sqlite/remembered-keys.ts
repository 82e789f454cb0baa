import { REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-rules.js';
import type { RememberOperation } from './operations.js';
import type { WriteTables } from './write-tables.js';

interface Gone {
  readonly bytes: number;
}

/** Of a row, its place in two indexes included. */
const BYTES = '2 * octet_length(key) + coalesce(octet_length(task), 0) + coalesce(octet_length(reply), 0) + 80';
const RETURNING = `RETURNING ${BYTES} AS bytes`;
const OLDEST = 'SELECT scope, key FROM idempotency ORDER BY expires LIMIT 1';
const EXPIRED = 'SELECT scope, key FROM idempotency WHERE expires <= ? ORDER BY expires LIMIT ?';

/** Count of keys in a file, and about the bytes that they take. */
export const REMEMBERED = `SELECT count(*) AS keys, coalesce(sum(${BYTES}), 0) AS bytes FROM idempotency`;

/** Keeps what a key led to. Where there is no room, the oldest keys go. */
export function rememberKey(tables: WriteTables, operation: RememberOperation): undefined {
  const [, scope, key, expiresAt, digest, task, turn, reply] = operation;
  const scopePk = tables.scopeOf(scope);
  forget(tables, tables.all<Gone>(`DELETE FROM idempotency WHERE scope = ? AND key = ? ${RETURNING}`, scopePk, key));
  const added = tables.get<Gone>(
    `INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?) ${RETURNING}`,
    scopePk,
    key,
    expiresAt,
    digest,
    task,
    turn,
    reply,
  );
  tables.changeRemembered(1, added?.bytes ?? 0);
  while (tables.remembered.keys > REMEMBERED_LIMIT || tables.remembered.bytes > REMEMBERED_BYTES) {
    const gone = tables.all<Gone>(`DELETE FROM idempotency WHERE (scope, key) IN (${OLDEST}) ${RETURNING}`);
    if (forget(tables, gone) === 0) return;
  }
}

/** Removes keys that have expired, at most so many; how many went. */
export function sweepKeys(tables: WriteTables, now: number, limit: number): number {
  return forget(
    tables,
    tables.all<Gone>(`DELETE FROM idempotency WHERE (scope, key) IN (${EXPIRED}) ${RETURNING}`, now, limit),
  );
}

function forget(tables: WriteTables, gone: readonly Gone[]): number {
  for (const { bytes } of gone) tables.changeRemembered(-1, -bytes);
  return gone.length;
}
