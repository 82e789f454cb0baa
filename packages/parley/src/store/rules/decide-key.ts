import type { KeyHead } from './key-head.js';

/** The standing of a key. A reservation counts for a node as long as another node holds it. */
type KeyStanding = 'free' | 'known' | 'reserved';

/** Decides what a kept key means for a node now. `free`: the node may write the key. */
export function keyStanding(key: KeyHead | undefined, node: string | undefined, now: number): KeyStanding {
  if (key === undefined || key.expiresAt <= now || key.isTaskGone) return 'free';
  const { reservation } = key;
  if (reservation === undefined) return 'known';
  return reservation.leaseEnd <= now || reservation.node === node ? 'free' : 'reserved';
}
