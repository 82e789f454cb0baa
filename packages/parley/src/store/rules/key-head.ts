/** Idempotency keys that a storage of one process keeps; beyond it, the oldest go first. */
export const REMEMBERED_LIMIT = 100_000;
/** Bytes that they take at most, with the direct replies that are kept for them. */
export const REMEMBERED_BYTES = 67_108_864;
/** An owner with more than such a part of these limits loses own keys before those of others go. */
export const REMEMBERED_SHARES = 8;

/**
 * The part of a kept key on which decisions about it rest. A key is reserved while a node finds out its outcome, and
 * known once the outcome is kept.
 */
export interface KeyHead {
  readonly expiresAt: number;
  /** The node that has reserved the key, and the end of its lease; absent once the outcome is known. */
  readonly reservation?: { readonly node: string; readonly leaseEnd: number } | undefined;
  /** True if the outcome is a task that was deleted since. */
  readonly isTaskGone: boolean;
}
