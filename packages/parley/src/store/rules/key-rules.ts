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

/** The standing of a key. A reservation counts for a node as long as another node holds it. */
export type KeyStanding = 'free' | 'known' | 'reserved';

/** Decides what a kept key means for a node now. `free`: the node may write the key. */
export function keyStanding(key: KeyHead | undefined, node: string | undefined, now: number): KeyStanding {
  if (key === undefined || key.expiresAt <= now || key.isTaskGone) return 'free';
  const { reservation } = key;
  if (reservation === undefined) return 'known';
  return reservation.leaseEnd <= now || reservation.node === node ? 'free' : 'reserved';
}
