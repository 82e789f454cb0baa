/** Maximum number of idempotency keys in a storage of one process. Above it, the oldest are evicted. */
export const REMEMBERED_LIMIT = 100_000;
/** Maximum bytes of these keys with their direct replies. */
export const REMEMBERED_BYTES = 67_108_864;
/** An owner above 1/8 of these limits loses own keys before those of other owners are evicted. */
export const REMEMBERED_SHARES = 8;

/**
 * The part of a stored key that decisions need. A key is reserved while a node processes its message, and known once
 * its outcome is stored.
 */
export interface KeyHead {
  readonly expiresAt: number;
  /** The node that has reserved the key, and the end of its lease; absent once the outcome is known. */
  readonly reservation?: { readonly node: string; readonly leaseEnd: number } | undefined;
  /** True if the outcome is a task that was deleted. */
  readonly isTaskGone: boolean;
}
