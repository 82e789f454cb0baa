import type { ErasedRows } from '../owner-storage.js';

/** The rows of a scope, in the order in which they are erased. */
export interface OwnedRows {
  /** Erases at most `limit` tasks. `found`: the number of tasks, including those that cannot be erased. */
  tasks(limit: number): { readonly found: number; readonly ids: readonly string[] };
  /** Erases at most `limit` idempotency keys. Returns their number. */
  keys(limit: number): number;
  /** Erases the remaining rows and the name of the scope. Returns the number of erased tasks. */
  rest(): number;
}

/** The same rows in a database with asynchronous calls. */
export type SharedOwnedRows = {
  readonly [Part in keyof OwnedRows]: (...args: Parameters<OwnedRows[Part]>) => Promise<ReturnType<OwnedRows[Part]>>;
};

/** A step of an erasure, with the ids of its tasks. */
export type ErasedPart = ErasedRows & { readonly ids: readonly string[] };

/**
 * Erases a part of a scope: at most `limit` tasks; without tasks, at most `limit` keys; without both, the rest. So no
 * transaction locks keys after tasks: messages lock them in the other order.
 */
export function eraseOwned(rows: OwnedRows, limit: number): ErasedPart {
  const { found, ids } = rows.tasks(limit);
  const keys = found === 0 ? rows.keys(limit) : 0;
  const isGone = found + keys === 0;
  return { tasks: ids.length + (isGone ? rows.rest() : 0), keys, isGone, ids };
}

/** The same for a database with asynchronous calls. */
export async function eraseShared(rows: SharedOwnedRows, limit: number): Promise<ErasedPart> {
  const { found, ids } = await rows.tasks(limit);
  const keys = found === 0 ? await rows.keys(limit) : 0;
  const isGone = found + keys === 0;
  return { tasks: ids.length + (isGone ? await rows.rest() : 0), keys, isGone, ids };
}
