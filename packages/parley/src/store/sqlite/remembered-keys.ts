import { type KeyAnswer, rememberKey, reserveKey } from '../engine/message-keys.js';
import { type KeyHead, REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-head.js';
import { expiryIn, keyNumber } from './key-numbers.js';
import { LIMIT } from './list-sql.js';
import { KEY_BYTES, keyBytes, type Owner } from './remembered-sizes.js';
import type { KeyResult, KeyRow, RememberWrite, ReserveWrite, ScopeFields, UnreserveWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

interface Gone {
  readonly bytes: number;
  readonly expiresAt: number;
}

/** The key that this transaction has just written, which is not evicted. */
interface WrittenKey {
  readonly scopePk: number;
  readonly key: string;
  readonly expiresAt: number;
}

const RETURNING = `RETURNING ${KEY_BYTES} AS bytes, expires AS expiresAt`;
const RETURNING_OWNER = `${RETURNING}, (SELECT owner FROM scope s WHERE s.pk = idempotency.scope) AS owner`;
const REMEMBER = `INSERT INTO idempotency VALUES (${keyNumber('?', '?', '?')}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (scope, key) DO NOTHING`;
const FORGET = 'DELETE FROM idempotency WHERE scope = ? AND key = ?';
const UNRESERVE = `${FORGET} AND node = ? ${RETURNING}, lasting`;
const KEY_ROW = `SELECT key, expires AS expiresAt, digest, task, turn, reply, node, lease_end AS leaseEnd, lasting
  FROM idempotency WHERE scope = ? AND key = ?`;

/** The statements that delete keys of both classes. */
const DROPS = [dropsOf(0), dropsOf(1)] as const;

function dropsOf(lasting: KeyRow['lasting']) {
  const drop = (found: string, returning: string) =>
    `DELETE FROM idempotency
      WHERE pk IN (SELECT i.pk FROM idempotency i ${found} ORDER BY i.pk ${LIMIT}) ${returning}`;
  const others = '(i.scope, i.key) <> (?, ?)';
  return {
    oldest: drop(`WHERE ${others} AND ${expiryIn(lasting, {})}`, RETURNING_OWNER),
    /** Scans the keys of all owners from a time on. */
    oldestOf: drop(
      `CROSS JOIN scope s ON s.pk = i.scope WHERE ${others} AND ${expiryIn(lasting, { from: '?' })} AND s.owner IS ?`,
      RETURNING,
    ),
    expired: drop(`WHERE ${expiryIn(lasting, { before: '(? + 1)' })}`, RETURNING_OWNER),
  };
}

/** Number of keys that are evicted together. One statement per key takes twice as long. */
const DROPPED_AT_ONCE = 500;

/** A key with its row. */
export interface KeyAt extends KeyHead {
  readonly row: KeyRow;
}

/** Reads a stored key. */
export function keyAt({ sql, heads }: WriteTables, scope: ScopeFields, key: string): KeyAt | undefined {
  const scopePk = heads.scope(scope);
  const row = scopePk === undefined ? undefined : sql.get<KeyRow>(KEY_ROW, scopePk, key);
  if (row === undefined) return undefined;
  const isTaskGone = row.task !== null && heads.find(scope, row.task) === undefined;
  const reservation = row.node === null ? undefined : { node: row.node, leaseEnd: row.leaseEnd ?? 0 };
  return { expiresAt: row.expiresAt, reservation, isTaskGone, row };
}

/** Reserves a key for a node. */
export function reserve(tables: WriteTables, [, write]: ReserveWrite): KeyResult {
  const { scope, now, key, expiresAt, digest, node, leaseMs, lasting } = write;
  if (isBlocked(tables, scope, now)) return { kind: 'blocked' };
  const kept = { key, expiresAt, digest, task: null, turn: null, reply: null, node, leaseEnd: now + leaseMs, lasting };
  const row = (before: KeyAt | undefined) => writeKey(tables, scope, kept, before?.row);
  return resultOf(reserveKey(keyAt(tables, scope, key), { node, now, write: row }));
}

/** Stores a direct reply. */
export function remember(tables: WriteTables, [, write]: RememberWrite): KeyResult {
  const { scope, now, key, expiresAt, digest, reply, lasting } = write;
  if (isBlocked(tables, scope, now)) return { kind: 'blocked' };
  const kept = { key, expiresAt, digest, task: null, turn: null, reply, node: null, leaseEnd: null, lasting };
  const row = (before: KeyAt | undefined) => writeKey(tables, scope, kept, before?.row);
  return resultOf(rememberKey(keyAt(tables, scope, key), { now, write: row }));
}

/** True if the owner of a scope is blocked. */
export function isBlocked({ blocks }: WriteTables, [agent, tenant, owner]: ScopeFields, now: number): boolean {
  return blocks.has({ agent, tenant, owner }, now);
}

function resultOf(answer: KeyAnswer<KeyAt>): KeyResult {
  return answer.kind === 'written' ? answer : { kind: answer.kind, row: answer.key.row };
}

/** Deletes the reservation of a node. */
export function unreserve(tables: WriteTables, [, { scope, key, node }]: UnreserveWrite): undefined {
  const { sql, heads, counters } = tables;
  const scopePk = heads.scope(scope);
  if (scopePk === undefined) return;
  for (const { bytes, lasting } of sql.all<Gone & Pick<KeyRow, 'lasting'>>(UNRESERVE, scopePk, key, node)) {
    sql.wrote = true;
    counters.remembered[lasting].removed(scope[2], { keys: 1, bytes });
  }
}

/**
 * Stores the outcome of a key, and replaces its row, if any. Evicts older keys if needed. A row larger than the limit
 * is not stored.
 */
export function writeKey(tables: WriteTables, scope: ScopeFields, row: KeyRow, before: KeyRow | undefined): void {
  const { sql, heads, counters } = tables;
  const { key, expiresAt, lasting } = row;
  const scopePk = heads.scopeOf(scope);
  const [, , owner] = scope;
  const sizes = counters.remembered[lasting];
  const bytes = keyBytes(row);
  if (before !== undefined) {
    sql.run(FORGET, scopePk, key);
    counters.remembered[before.lasting].removed(owner, { keys: 1, bytes: keyBytes(before) });
  }
  if (bytes > REMEMBERED_BYTES) return;
  insertKey(tables, { scopePk, owner, bytes, row });
  if (sizes.keys > REMEMBERED_LIMIT || sizes.bytes > REMEMBERED_BYTES) {
    makeRoom(tables, lasting, { scopePk, key, expiresAt });
  }
}

/** A key to insert, with its `keyBytes`. */
interface NewKey {
  readonly scopePk: number;
  readonly owner: Owner;
  readonly bytes: number;
  readonly row: KeyRow;
}

/** Inserts a key, unless the scope has it. */
export function insertKey({ sql, counters }: WriteTables, { scopePk, owner, bytes, row }: NewKey): void {
  const { key, expiresAt, digest, task, turn, reply, node, leaseEnd, lasting } = row;
  const sizes = counters.remembered[lasting];
  const number = [lasting, expiresAt, sizes.nextCount()];
  const values = [scopePk, key, expiresAt, digest, task, turn, reply, node, leaseEnd, lasting];
  if (sql.run(REMEMBER, ...number, ...values) > 0) sizes.added(owner, bytes, expiresAt);
}

/** Evicts the oldest keys above the limits, first those of owners above their share. */
function makeRoom(tables: WriteTables, lasting: KeyRow['lasting'], written: WrittenKey): void {
  const sizes = tables.counters.remembered[lasting];
  let tooMany = sizes.keys > REMEMBERED_LIMIT ? Math.max(DROPPED_AT_ONCE, sizes.keys - REMEMBERED_LIMIT) : 0;
  const isTooMuch = () => tooMany > 0 || sizes.bytes > REMEMBERED_BYTES;
  for (const owner of sizes.largeOwners) {
    while (isTooMuch() && sizes.isLarge(owner)) {
      const count = Math.max(1, Math.min(tooMany, sizes.keysBeyondShare(owner)));
      const dropped = dropOldestOf(tables, owner, { lasting, count, written });
      tooMany -= dropped;
      if (dropped < count) break;
    }
  }
  while (isTooMuch()) {
    const { scopePk, key } = written;
    const dropped = forget(tables, lasting, DROPS[lasting].oldest, scopePk, key, Math.max(1, tooMany));
    if (dropped === 0) return;
    tooMany -= dropped;
  }
}

/** Evicts the oldest keys of an owner. Returns their number. */
function dropOldestOf(
  { sql, counters }: WriteTables,
  owner: Owner,
  drop: { readonly lasting: KeyRow['lasting']; readonly count: number; readonly written: WrittenKey },
): number {
  const { lasting, count, written } = drop;
  const { scopePk, key, expiresAt } = written;
  const sizes = counters.remembered[lasting];
  const gone = sql.all<Gone>(DROPS[lasting].oldestOf, scopePk, key, sizes.oldestOf(owner), owner, count);
  let bytes = 0;
  let last = 0;
  for (const one of gone) {
    bytes += one.bytes;
    last = Math.max(last, one.expiresAt);
  }
  sizes.removed(owner, { keys: gone.length, bytes });
  // The written key may be older than the evicted ones.
  sizes.beginAt(owner, gone.length < count ? expiresAt : Math.min(last, expiresAt));
  return gone.length;
}

/** Deletes at most `limit` expired keys. Returns their number. */
export function sweepKeys(tables: WriteTables, now: number, limit: number): number {
  const [passing, lasting] = DROPS;
  const dropped = forget(tables, 0, passing.expired, now, limit);
  return dropped + forget(tables, 1, lasting.expired, now, limit - dropped);
}

const DROP_OF_SCOPE = `DELETE FROM idempotency WHERE pk IN
  (SELECT pk FROM idempotency WHERE scope = ? ${LIMIT}) ${RETURNING}, lasting`;

/** Deletes at most `limit` keys of a scope. Returns their number. */
export function dropKeysOf(
  { sql, counters }: WriteTables,
  scopePk: number,
  { owner, limit }: { readonly owner: Owner; readonly limit: number },
): number {
  const gone = sql.all<Gone & Pick<KeyRow, 'lasting'>>(DROP_OF_SCOPE, scopePk, Math.max(0, limit));
  if (gone.length > 0) sql.wrote = true;
  for (const { bytes, lasting } of gone) counters.remembered[lasting].removed(owner, { keys: 1, bytes });
  return gone.length;
}

/** Deletes keys by a statement that returns them with their owners. Returns their number. */
function forget(
  { sql, counters }: WriteTables,
  lasting: KeyRow['lasting'],
  statement: string,
  ...values: readonly (string | number)[]
): number {
  const gone = sql.all<Gone & { readonly owner: Owner }>(statement, ...values);
  if (gone.length > 0) sql.wrote = true;
  for (const { owner, bytes } of gone) counters.remembered[lasting].removed(owner, { keys: 1, bytes });
  return gone.length;
}
