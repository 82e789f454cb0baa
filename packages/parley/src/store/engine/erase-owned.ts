import type { ErasedRows } from '../owner-storage.js';

/** The rows of a scope, in the order in which they are erased. */
export interface OwnedRows {
  /** Erases at most so many tasks. `found`: tasks that were there, with those that cannot be erased. */
  tasks(limit: number): { readonly found: number; readonly ids: readonly string[] };
  /** Erases at most so many idempotency keys. Returns their count. */
  keys(limit: number): number;
  /** Erases what neither a task nor a key names, and the name of the scope. Returns the tasks that were among it. */
  rest(): number;
}

/** The same rows in a database that answers later. */
export type SharedOwnedRows = {
  readonly [Part in keyof OwnedRows]: (...args: Parameters<OwnedRows[Part]>) => Promise<ReturnType<OwnedRows[Part]>>;
};

/** A step of an erasure, with the ids of its tasks. */
export type ErasedPart = ErasedRows & { readonly ids: readonly string[] };

/**
 * Erases a part of a scope: at most so many tasks, or keys if it has no task, or the rest if it has neither. So no
 * transaction locks keys behind tasks: messages lock them in the other order.
 */
export function eraseOwned(rows: OwnedRows, limit: number): ErasedPart {
  const { found, ids } = rows.tasks(limit);
  const keys = found === 0 ? rows.keys(limit) : 0;
  const isGone = found + keys === 0;
  return { tasks: ids.length + (isGone ? rows.rest() : 0), keys, isGone, ids };
}

/** Does the same in a database that answers later. */
export async function eraseShared(rows: SharedOwnedRows, limit: number): Promise<ErasedPart> {
  const { found, ids } = await rows.tasks(limit);
  const keys = found === 0 ? await rows.keys(limit) : 0;
  const isGone = found + keys === 0;
  return { tasks: ids.length + (isGone ? await rows.rest() : 0), keys, isGone, ids };
}
