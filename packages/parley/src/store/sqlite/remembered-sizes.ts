import { REMEMBERED_BYTES, REMEMBERED_LIMIT, REMEMBERED_SHARES } from '../rules/key-rules.js';
import { isDamage } from './file-fault.js';
import type { Statements } from './statements.js';
import type { KeyRow } from './write-requests.js';

/** Count of idempotency keys, and about the bytes that they take. */
interface Size {
  readonly keys: number;
  readonly bytes: number;
}

/** The bytes of a row of `idempotency`, its place in two indexes included. */
export const KEY_BYTES =
  '2 * octet_length(key) + coalesce(octet_length(task), 0) + coalesce(octet_length(reply), 0) + 80';

/** The same of a row that is yet to be written. */
export function keyBytes({ key, task, reply }: Pick<KeyRow, 'key' | 'task' | 'reply'>): number {
  return 2 * Buffer.byteLength(key) + Buffer.byteLength(task ?? '') + Buffer.byteLength(reply ?? '') + 80;
}

const SIZES = `SELECT scope, count(*) AS keys, sum(${KEY_BYTES}) AS bytes FROM idempotency GROUP BY scope`;
const NOTHING: Size = { keys: 0, bytes: 0 };

/** The sizes of the idempotency keys, by the numbers of their scopes. */
export class RememberedSizes {
  readonly #sizes = new Map<number, Size>();
  /** The sizes before this transaction of scopes that it has changed. */
  readonly #before = new Map<number, Size>();
  /** Scopes with more than their share. There are never many. */
  readonly #large = new Set<number>();
  #keys = 0;
  #bytes = 0;

  /** A damaged table has no sizes: what can be read of it is still good. */
  constructor(sql: Statements) {
    try {
      for (const { scope, keys, bytes } of sql.all<Size & { readonly scope: number }>(SIZES)) {
        this.#set(scope, { keys, bytes });
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

  /** A key of a scope was added, or has gone. */
  change(scope: number, keys: 1 | -1, bytes: number): void {
    const size = this.#sizes.get(scope) ?? NOTHING;
    if (!this.#before.has(scope)) this.#before.set(scope, size);
    this.#set(scope, { keys: size.keys + keys, bytes: size.bytes + bytes });
  }

  /** The scope that takes the most of those with more than their share, if there is one. */
  get largest(): number | undefined {
    const partOfScope = (scope: number) => partOf(this.#sizes.get(scope) ?? NOTHING);
    return [...this.#large].sort((one, other) => partOfScope(other) - partOfScope(one))[0];
  }

  committed(): void {
    this.#before.clear();
  }

  rolledBack(): void {
    for (const [scope, size] of this.#before) this.#set(scope, size);
    this.#before.clear();
  }

  #set(scope: number, size: Size): void {
    const before = this.#sizes.get(scope) ?? NOTHING;
    this.#keys += size.keys - before.keys;
    this.#bytes += size.bytes - before.bytes;
    if (size.keys > 0) this.#sizes.set(scope, size);
    else this.#sizes.delete(scope);
    if (partOf(size) > 1 / REMEMBERED_SHARES) this.#large.add(scope);
    else this.#large.delete(scope);
  }
}

/** The part of the room that a scope takes. */
function partOf({ keys, bytes }: Size): number {
  return Math.max(keys / REMEMBERED_LIMIT, bytes / REMEMBERED_BYTES);
}
