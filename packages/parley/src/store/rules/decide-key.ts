import type { KeyHead } from './key-head.js';

/** The state of a key for a node. `reserved`: another node holds a valid reservation. */
type KeyStanding = 'free' | 'known' | 'reserved';

/** Decides whether a node may write a key now. `free`: it may. */
export function keyStanding(key: KeyHead | undefined, node: string | undefined, now: number): KeyStanding {
  if (key === undefined || key.expiresAt <= now || key.isTaskGone) return 'free';
  const { reservation } = key;
  if (reservation === undefined) return 'known';
  return reservation.leaseEnd <= now || reservation.node === node ? 'free' : 'reserved';
}
