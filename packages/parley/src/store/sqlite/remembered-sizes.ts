import { REMEMBERED_BYTES, REMEMBERED_LIMIT, REMEMBERED_SHARES } from '../rules/key-head.js';
import { isDamage } from './file-fault.js';
import { COUNT_OF_KEY, LAST_COUNT } from './key-numbers.js';
import type { Statements } from './statements.js';
import type { KeyRow } from './write-requests.js';

/** The owner of a scope. All anonymous callers are one owner. */
export type Owner = string | null;

/** The keys of one owner: their number and approximate bytes. No key expires before `oldest`. */
interface OwnerKeys {
  readonly keys: number;
  readonly bytes: number;
  readonly oldest: number;
}

/** Approximate bytes of a row of `idempotency`, with its place in the index. */
export const KEY_BYTES =
  '2 * octet_length(key) + coalesce(octet_length(task), 0) + coalesce(octet_length(reply), 0) + 80';

/** The same for a row before its insert. */
export function keyBytes({ key, task, reply }: Pick<KeyRow, 'key' | 'task' | 'reply'>): number {
  return 2 * Buffer.byteLength(key) + Buffer.byteLength(task ?? '') + Buffer.byteLength(reply ?? '') + 80;
}

const SIZES = `SELECT (SELECT owner FROM scope s WHERE s.pk = idempotency.scope) AS owner, count(*) AS keys,
  sum(${KEY_BYTES}) AS bytes, min(expires) AS oldest, max(${COUNT_OF_KEY}) AS lastCount
  FROM idempotency WHERE lasting = ? GROUP BY scope`;
const NOTHING: OwnerKeys = { keys: 0, bytes: 0, oldest: Number.POSITIVE_INFINITY };
const SHARE_OF_KEYS = Math.floor(REMEMBERED_LIMIT / REMEMBERED_SHARES);

/** The sizes of the idempotency keys with shared limits, by owner over all agents and tenants. */
export class RememberedSizes {
  readonly #sizes = new Map<Owner, OwnerKeys>();
  /** The sizes of changed owners before this transaction. */
  readonly #before = new Map<Owner, OwnerKeys>();
  /** Owners above their share. Few at any time. */
  readonly #large = new Set<Owner>();
  #keys = 0;
  #bytes = 0;
  #lastCount = 0;

  /** With a damaged table, sizes are zero: its readable rows can still be used. */
  constructor(sql: Statements, lasting: KeyRow['lasting']) {
    try {
      type Row = OwnerKeys & { readonly owner: Owner; readonly lastCount: number };
      for (const { owner, lastCount, ...size } of sql.all<Row>(SIZES, lasting)) {
        this.#lastCount = Math.max(this.#lastCount, lastCount);
        const { keys, bytes, oldest } = this.#of(owner);
        const all = { keys: keys + size.keys, bytes: bytes + size.bytes, oldest: Math.min(oldest, size.oldest) };
        this.#set(owner, all);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }

  get keys(): number {
    return this.#keys;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the count for the number of the next key. */
  nextCount(): number {
    this.#lastCount = this.#lastCount < LAST_COUNT ? this.#lastCount + 1 : 0;
    return this.#lastCount;
  }

  /** Must be called after the insert of a key. */
  added(owner: Owner, bytes: number, expiresAt: number): void {
    const size = this.#of(owner);
    this.#change(owner, {
      keys: size.keys + 1,
      bytes: size.bytes + bytes,
      oldest: Math.min(size.oldest, expiresAt),
    });
  }

  /** Must be called after the deletion of keys. */
  removed(owner: Owner, { keys, bytes }: Pick<OwnerKeys, 'keys' | 'bytes'>): void {
    const size = this.#of(owner);
    this.#change(owner, { ...size, keys: size.keys - keys, bytes: size.bytes - bytes });
  }

  /** No key of the owner expires before this time. The search for the oldest keys begins here. */
  oldestOf(owner: Owner): number {
    return this.#of(owner).oldest;
  }

  /** Must be called after all keys of the owner that expire before a time were deleted. */
  beginAt(owner: Owner, oldest: number): void {
    this.#change(owner, { ...this.#of(owner), oldest });
  }

  /** The owners above their share, largest first. */
  get largeOwners(): readonly Owner[] {
    return [...this.#large].sort((one, other) => partOf(this.#of(other)) - partOf(this.#of(one)));
  }

  isLarge(owner: Owner): boolean {
    return this.#large.has(owner);
  }

  /** Number of keys of an owner above the share. */
  keysBeyondShare(owner: Owner): number {
    return Math.max(0, this.#of(owner).keys - SHARE_OF_KEYS);
  }

  committed(): void {
    this.#before.clear();
  }

  rolledBack(): void {
    for (const [owner, size] of this.#before) this.#set(owner, size);
    this.#before.clear();
  }

  #of(owner: Owner): OwnerKeys {
    return this.#sizes.get(owner) ?? NOTHING;
  }

  #change(owner: Owner, size: OwnerKeys): void {
    if (!this.#before.has(owner)) this.#before.set(owner, this.#of(owner));
    this.#set(owner, size);
  }

  #set(owner: Owner, size: OwnerKeys): void {
    const before = this.#of(owner);
    this.#keys += size.keys - before.keys;
    this.#bytes += size.bytes - before.bytes;
    if (size.keys > 0) this.#sizes.set(owner, size);
    else this.#sizes.delete(owner);
    if (partOf(size) > 1 / REMEMBERED_SHARES) this.#large.add(owner);
    else this.#large.delete(owner);
  }
}

/** Returns the fraction of the limits that an owner uses. */
function partOf({ keys, bytes }: OwnerKeys): number {
  return Math.max(keys / REMEMBERED_LIMIT, bytes / REMEMBERED_BYTES);
}
