import { type KeyStanding, keyStanding, REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-rules.js';
import { KEY_BYTES, keyBytes } from './counters.js';
import type {
  KeyRow,
  RememberWrite,
  ReserveResult,
  ReserveWrite,
  ScopeFields,
  UnreserveWrite,
} from './write-requests.js';
import type { WriteTables } from './write-tables.js';

interface Gone {
  readonly bytes: number;
}

const RETURNING = `RETURNING ${KEY_BYTES} AS bytes`;
const REMEMBER = 'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
const UNRESERVE = `DELETE FROM idempotency WHERE scope = ? AND key = ? AND node = ? ${RETURNING}`;
const KEY_ROW = `SELECT key, expires AS expiresAt, digest, task, turn, reply, node, lease_end AS leaseEnd
  FROM idempotency WHERE scope = ? AND key = ?`;
const DROP_OLDEST = `DELETE FROM idempotency
  WHERE (scope, key) IN (SELECT scope, key FROM idempotency ORDER BY expires LIMIT ?) ${RETURNING}`;
const DROP_EXPIRED = `DELETE FROM idempotency
  WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE expires <= ? ORDER BY expires LIMIT ?) ${RETURNING}`;
/** Keys that one statement drops to make room. A statement for each key takes twice as long. */
const DROPPED_AT_ONCE = 500;

/** The standing of a key for a node, and its row. */
export function standingOf(
  { sql, heads }: WriteTables,
  scope: ScopeFields,
  { key, node, now }: { readonly key: string; readonly node: string | undefined; readonly now: number },
): { readonly standing: KeyStanding; readonly row: KeyRow | undefined } {
  const scopePk = heads.scope(scope);
  const row = scopePk === undefined ? undefined : sql.get<KeyRow>(KEY_ROW, scopePk, key);
  if (row === undefined) return { standing: 'free', row };
  const isTaskGone = row.task !== null && heads.find(scope, row.task) === undefined;
  const reservation = row.node === null ? undefined : { node: row.node, leaseEnd: row.leaseEnd ?? 0 };
  return { standing: keyStanding({ expiresAt: row.expiresAt, reservation, isTaskGone }, node, now), row };
}

/** Reserves a key for a node, unless its outcome is known or another node finds it out. */
export function reserveKey(tables: WriteTables, [, write]: ReserveWrite): ReserveResult {
  const { scope, now, key, expiresAt, digest, node, leaseMs } = write;
  const { standing, row } = standingOf(tables, scope, { key, node, now });
  if (standing !== 'free' && row !== undefined) return { standing, row };
  const leaseEnd = now + leaseMs;
  const kept = { key, expiresAt, digest, task: null, turn: null, reply: null, node, leaseEnd };
  rememberKey(tables, scope, kept, row);
  return { standing: 'free' };
}

/** Gives a reservation of a node back. */
export function unreserveKey(
  { sql, heads, counters }: WriteTables,
  [, { scope, key, node }]: UnreserveWrite,
): undefined {
  const scopePk = heads.scope(scope);
  if (scopePk === undefined) return;
  for (const { bytes } of sql.all<Gone>(UNRESERVE, scopePk, key, node)) counters.changeRemembered(-1, -bytes);
}

/** Keeps a direct reply, unless an outcome of the key is known: then that is the answer. */
export function remember(tables: WriteTables, [, write]: RememberWrite): KeyRow {
  const { scope, now, key, expiresAt, digest, reply } = write;
  const { standing, row } = standingOf(tables, scope, { key, node: undefined, now });
  if (standing === 'known' && row !== undefined) return row;
  const kept = { key, expiresAt, digest, task: null, turn: null, reply, node: null, leaseEnd: null };
  rememberKey(tables, scope, kept, row);
  return kept;
}

/** Keeps what a key led to, in the place of the row that the key has. The oldest keys make room. */
export function rememberKey(tables: WriteTables, scope: ScopeFields, row: KeyRow, before: KeyRow | undefined): void {
  const { sql, heads, counters } = tables;
  const { key, expiresAt, digest, task, turn, reply, node, leaseEnd } = row;
  sql.run(REMEMBER, heads.scopeOf(scope), key, expiresAt, digest, task, turn, reply, node, leaseEnd);
  if (before !== undefined) counters.changeRemembered(-1, -keyBytes(before));
  counters.changeRemembered(1, keyBytes(row));
  while (counters.remembered.keys > REMEMBERED_LIMIT) {
    if (forget(tables, sql.all<Gone>(DROP_OLDEST, DROPPED_AT_ONCE)) === 0) return;
  }
  while (counters.remembered.bytes > REMEMBERED_BYTES) {
    if (forget(tables, sql.all<Gone>(DROP_OLDEST, 1)) === 0) return;
  }
}

/** Removes keys that have expired, at most so many; how many went. */
export function sweepKeys(tables: WriteTables, now: number, limit: number): number {
  return forget(tables, tables.sql.all<Gone>(DROP_EXPIRED, now, limit));
}

function forget(tables: WriteTables, gone: readonly Gone[]): number {
  for (const { bytes } of gone) tables.counters.changeRemembered(-1, -bytes);
  return gone.length;
}
