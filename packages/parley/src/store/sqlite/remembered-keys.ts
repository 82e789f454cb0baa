import { type KeyStanding, keyStanding, REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-rules.js';
import { KEY_BYTES, keyBytes } from './remembered-sizes.js';
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
  readonly scope: number;
  readonly bytes: number;
}

const RETURNING = `RETURNING scope, ${KEY_BYTES} AS bytes`;
const REMEMBER = 'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
const UNRESERVE = `DELETE FROM idempotency WHERE scope = ? AND key = ? AND node = ? ${RETURNING}`;
const KEY_ROW = `SELECT key, expires AS expiresAt, digest, task, turn, reply, node, lease_end AS leaseEnd
  FROM idempotency WHERE scope = ? AND key = ?`;
const DROP_OLDEST = `DELETE FROM idempotency
  WHERE (scope, key) IN (SELECT scope, key FROM idempotency ORDER BY expires LIMIT ?) ${RETURNING}`;
const DROP_OLDEST_OF = `DELETE FROM idempotency WHERE (scope, key) IN
  (SELECT scope, key FROM idempotency INDEXED BY idempotency_expires WHERE scope = ? ORDER BY expires LIMIT ?)
  ${RETURNING}`;
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
export function unreserveKey(tables: WriteTables, [, { scope, key, node }]: UnreserveWrite): undefined {
  const scopePk = tables.heads.scope(scope);
  if (scopePk !== undefined) forget(tables, tables.sql.all<Gone>(UNRESERVE, scopePk, key, node));
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

/** Keeps what a key led to, in the place of the row that the key has. Older keys make room. */
export function rememberKey(tables: WriteTables, scope: ScopeFields, row: KeyRow, before: KeyRow | undefined): void {
  const { sql, heads, counters } = tables;
  const { remembered } = counters;
  const { key, expiresAt, digest, task, turn, reply, node, leaseEnd } = row;
  const scopePk = heads.scopeOf(scope);
  sql.run(REMEMBER, scopePk, key, expiresAt, digest, task, turn, reply, node, leaseEnd);
  if (before !== undefined) remembered.change(scopePk, -1, -keyBytes(before));
  remembered.change(scopePk, 1, keyBytes(row));
  while (remembered.keys > REMEMBERED_LIMIT) if (dropOldest(tables, DROPPED_AT_ONCE) === 0) return;
  while (remembered.bytes > REMEMBERED_BYTES) if (dropOldest(tables, 1) === 0) return;
}

/** Drops so many of the oldest keys, those of a scope with more than its share first; how many went. */
function dropOldest(tables: WriteTables, count: number): number {
  const { sql, counters } = tables;
  const { largest } = counters.remembered;
  const gone =
    largest === undefined ? sql.all<Gone>(DROP_OLDEST, count) : sql.all<Gone>(DROP_OLDEST_OF, largest, count);
  return forget(tables, gone);
}

/** Removes keys that have expired, at most so many; how many went. */
export function sweepKeys(tables: WriteTables, now: number, limit: number): number {
  return forget(tables, tables.sql.all<Gone>(DROP_EXPIRED, now, limit));
}

function forget({ sql, counters }: WriteTables, gone: readonly Gone[]): number {
  if (gone.length > 0) sql.wrote = true;
  for (const { scope, bytes } of gone) counters.remembered.change(scope, -1, -bytes);
  return gone.length;
}
