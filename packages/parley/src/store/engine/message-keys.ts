import { keyStanding } from '../rules/decide-key.js';
import type { KeyHead } from '../rules/key-head.js';

/** The answer of a key to a node that wants to write it. */
export type KeyAnswer<Key> = { readonly kind: 'written' } | { readonly kind: 'known' | 'reserved'; readonly key: Key };

const WRITTEN = { kind: 'written' } as const;

/** Reserves a key for a node, unless its outcome is known or another node has reserved it. */
export function reserveKey<Key extends KeyHead>(
  key: Key | undefined,
  {
    node,
    now,
    write,
  }: { readonly node: string; readonly now: number; readonly write: (before: Key | undefined) => void },
): KeyAnswer<Key> {
  const standing = keyStanding(key, node, now);
  if (key !== undefined && standing !== 'free') return { kind: standing, key };
  write(key);
  return WRITTEN;
}

/** Stores an outcome. Replaces a reservation, but never an earlier outcome. */
export function rememberKey<Key extends KeyHead>(
  key: Key | undefined,
  { now, write }: { readonly now: number; readonly write: (before: Key | undefined) => void },
): KeyAnswer<Key> {
  if (key !== undefined && keyStanding(key, undefined, now) === 'known') return { kind: 'known', key };
  write(key);
  return WRITTEN;
}

/** Returns the key if its outcome is known. */
export function keyIfKnown<Key extends KeyHead>(key: Key | undefined, now: number): Key | undefined {
  return keyStanding(key, undefined, now) === 'known' ? key : undefined;
}
