import {
  type IdempotencyKey,
  type KeyHead,
  type KeyToWrite,
  type LocalKeys,
  type Message,
  REMEMBERED_BYTES,
  REMEMBERED_LIMIT,
  REMEMBERED_SHARES,
  type Remembered,
  type Scope,
} from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';
import type { TaskRows } from './task-rows.js';

/** A stored idempotency key. */
export interface KeyRow extends KeyHead {
  readonly scopePk: number;
  readonly key: string;
  readonly digest: string;
  readonly task: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
}

/** A deleted key's row. */
interface GoneKey {
  readonly scope: number;
  readonly lasting: number;
  readonly bytes: number;
}

/** The keys of one owner with the same limits: their number, and approximate bytes. */
interface Size {
  readonly lasting: number;
  readonly owner: string | null;
  keys: number;
  bytes: number;
}

/** Approximate bytes of a row beside its texts. */
const ROW_BYTES = 80;

const FIND = `SELECT k.scope AS scopePk, k.key, k.digest, k.expires AS expiresAt, k.task, k.turn, k.reply, k.node,
  k.lease_end AS leaseEnd,
  k.task IS NOT NULL AND NOT EXISTS (SELECT 1 FROM task t WHERE t.scope = k.scope AND t.id = k.task) AS isTaskGone
  FROM message_key k JOIN scope s ON s.pk = k.scope
  WHERE s.agent = ? AND s.tenant = ? AND s.owner IS ? AND k.key = ?`;
const SIZES = `SELECT k.lasting, s.owner, count(*) AS keys, sum(k.bytes) AS bytes
  FROM message_key k JOIN scope s ON s.pk = k.scope GROUP BY k.lasting, s.owner`;
const RETURNING = 'RETURNING scope, lasting, bytes';
const DELETE = `DELETE FROM message_key WHERE scope = ? AND key = ? ${RETURNING}`;
const OLDEST = `SELECT k.scope, k.key FROM message_key k INDEXED BY message_key_expires JOIN scope s ON s.pk = k.scope
  WHERE k.lasting = ? AND (k.scope, k.key) <> (?, ?)`;

/** The table of idempotency keys. Above a limit the oldest are deleted, first those of an owner with a large share. */
export class KeyTables implements LocalKeys<KeyRow> {
  readonly #sql: ObjectSql;
  readonly #rows: TaskRows;
  /** Undefined until the first count. */
  #sizes: Size[] | undefined;

  constructor(sql: ObjectSql, rows: TaskRows) {
    this.#sql = sql;
    this.#rows = rows;
  }

  /** Drops the cached counts, because a transaction was rolled back. */
  forgetKeys(): void {
    this.#sizes = undefined;
  }

  find({ agent, tenant, owner }: Scope, key: string): KeyRow | undefined {
    type Columns = Omit<KeyRow, 'reservation' | 'isTaskGone'> & {
      readonly node: string | null;
      readonly leaseEnd: number | null;
      readonly isTaskGone: number;
    };
    const row = this.#sql.get<Columns>(FIND, agent, tenant, owner, key);
    if (row === undefined) return undefined;
    const { node, leaseEnd, isTaskGone, ...kept } = row;
    const reservation = node === null ? undefined : { node, leaseEnd: leaseEnd ?? 0 };
    return { ...kept, reservation, isTaskGone: isTaskGone === 1 };
  }

  put(scope: Scope, { key, digest, ttlMs, isLasting }: IdempotencyKey, write: KeyToWrite<KeyRow>): void {
    const { outcome, reservation, now, before } = write;
    if (before !== undefined) this.remove(before);
    const reply = outcome !== undefined && 'reply' in outcome ? JSON.stringify(outcome.reply) : '';
    const { taskId = null, turn = null } = outcome !== undefined && 'taskId' in outcome ? outcome : {};
    const bytes = 2 * key.length + (taskId?.length ?? 0) + reply.length + ROW_BYTES;
    // A key larger than the limit must not evict others.
    if (bytes > REMEMBERED_BYTES) return;
    const lasting = isLasting === true ? 1 : 0;
    const scopePk = this.#rows.scopeOf(scope);
    const size = this.#sizeOf(lasting, scope.owner);
    this.#sql.run(
      'INSERT INTO message_key VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      scopePk,
      key,
      digest,
      now + ttlMs,
      lasting,
      bytes,
      taskId,
      turn,
      outcome !== undefined && 'reply' in outcome ? this.#sql.textValue(outcome.reply) : null,
      reservation?.node ?? null,
      reservation?.leaseEnd ?? null,
    );
    size.keys += 1;
    size.bytes += bytes;
    this.#makeRoom(lasting, scopePk, key);
  }

  remove({ scopePk, key }: KeyRow): void {
    this.#subtract(this.#sql.all<GoneKey>(DELETE, scopePk, key));
  }

  digestOf({ digest }: KeyRow): string {
    return digest;
  }

  rememberedOf({ digest, task, turn, reply }: KeyRow): Remembered {
    if (reply !== null) return { digest, outcome: { reply: this.#sql.parse<Message>(reply) } };
    return { digest, outcome: { taskId: task ?? '', turn: turn ?? 0 } };
  }

  sweep(now: number, limit: number): number {
    return this.#drop('lasting IN (0, 1) AND expires <= ?', now, limit);
  }

  /** Deletes at most `limit` keys of a scope, and returns their number. */
  dropOf(scopePk: number, limit: number): number {
    return this.#drop('scope = ?', scopePk, limit);
  }

  #drop(condition: string, value: number, limit: number): number {
    const found = `SELECT scope, key FROM message_key WHERE ${condition} LIMIT ?`;
    const drop = `DELETE FROM message_key WHERE (scope, key) IN (${found}) ${RETURNING}`;
    const gone = this.#sql.all<GoneKey>(drop, value, Math.max(0, limit));
    this.#subtract(gone);
    return gone.length;
  }

  #makeRoom(lasting: number, scopePk: number, key: string): void {
    for (;;) {
      const sizes = this.#counts().filter((size) => size.lasting === lasting);
      const all = { keys: sum(sizes.map(({ keys }) => keys)), bytes: sum(sizes.map(({ bytes }) => bytes)) };
      if (shareOf(all) <= 1) return;
      const largest = sizes.reduce((one, other) => (shareOf(other) > shareOf(one) ? other : one));
      const isLarge = shareOf(largest) > 1 / REMEMBERED_SHARES;
      const owned = isLarge
        ? this.#oldest(`${OLDEST} AND s.owner IS ?`, lasting, scopePk, key, largest.owner)
        : undefined;
      const oldest = owned ?? this.#oldest(OLDEST, lasting, scopePk, key);
      if (oldest === undefined) return;
      this.#subtract(this.#sql.all<GoneKey>(DELETE, oldest.scope, oldest.key));
    }
  }

  #oldest(
    select: string,
    ...values: (string | number | null)[]
  ): { readonly scope: number; readonly key: string } | undefined {
    return this.#sql.get(`${select} ORDER BY k.expires LIMIT 1`, ...values);
  }

  #subtract(keys: readonly GoneKey[]): void {
    if (this.#sizes === undefined) return;
    for (const { scope, lasting, bytes } of keys) {
      const owner = this.#sql.get<{ owner: string | null }>('SELECT owner FROM scope WHERE pk = ?', scope)?.owner;
      const size = this.#sizeOf(lasting, owner ?? null);
      size.keys -= 1;
      size.bytes -= bytes;
    }
  }

  #counts(): Size[] {
    this.#sizes ??= this.#sql.all<Size>(SIZES);
    return this.#sizes;
  }

  #sizeOf(lasting: number, owner: string | null): Size {
    const sizes = this.#counts();
    const known = sizes.find((size) => size.lasting === lasting && size.owner === owner);
    if (known !== undefined) return known;
    const size: Size = { lasting, owner, keys: 0, bytes: 0 };
    sizes.push(size);
    return size;
  }
}

/** The share of the limit that keys use. */
function shareOf({ keys, bytes }: Pick<Size, 'keys' | 'bytes'>): number {
  return Math.max(keys / REMEMBERED_LIMIT, bytes / REMEMBERED_BYTES);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
