import type { KnownUser } from '../authenticator.js';
import { isSameText } from '../same-text.js';
import type { User } from '../user.js';
import type { CredentialOwner } from './api-key.js';
import { ownerAsUser, type UserSource } from './credential-users.js';

/** A hash of a key, and the owner of the key. */
export interface HashedKey {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly owner: CredentialOwner;
}

interface Entry {
  readonly sha256: string;
  /** The owner as JSON, to detect unchanged keys in a new list. */
  readonly owner: string;
  readonly answer: KnownUser & { readonly user: User };
  readonly revocation: AbortController;
}

/** The number of hash digits that choose a bucket. Their timing reveals nothing about a key. */
const BUCKET_DIGITS = 8;

/**
 * Users by the hashes of their keys. A look-up takes the same time for any number of keys. It compares all digits of a
 * hash in constant time.
 */
export class KeyTable {
  /** Identifies this table without holding its keys in memory. */
  readonly version: object = {};
  readonly #buckets: ReadonlyMap<string, readonly Entry[]>;
  readonly #entries: readonly Entry[];

  /** Takes over the entries of `previous` that have not changed. Revokes all others of it. */
  constructor(keys: readonly HashedKey[], source: UserSource, previous?: KeyTable) {
    const entries = previous === undefined ? [] : previous.#entries;
    const before = new Map(entries.map((entry) => [`${entry.sha256} ${entry.owner}`, entry]));
    const buckets = new Map<string, Entry[]>();
    const now = new Map<string, Entry>();
    for (const { sha256, owner } of keys) {
      const text = JSON.stringify(owner);
      const name = `${sha256} ${text}`;
      if (now.has(name)) continue;
      now.set(name, before.get(name) ?? entryOf({ sha256, owner: text, user: ownerAsUser(owner, source) }));
      before.delete(name);
    }
    this.#entries = [...now.values()];
    for (const entry of this.#entries) {
      const bucket = entry.sha256.slice(0, BUCKET_DIGITS);
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), entry]);
    }
    this.#buckets = buckets;
    for (const { revocation } of before.values()) revocation.abort(new Error('The credential was revoked'));
  }

  /** The user of a key by its hash. */
  find(sha256: string): KnownUser | undefined {
    let found: KnownUser | undefined;
    for (const entry of this.#buckets.get(sha256.slice(0, BUCKET_DIGITS)) ?? []) {
      if (isSameText(entry.sha256, sha256)) found = entry.answer;
    }
    return found;
  }
}

function entryOf({ user, ...entry }: Pick<Entry, 'sha256' | 'owner'> & { readonly user: User }): Entry {
  const revocation = new AbortController();
  return {
    ...entry,
    revocation,
    answer: Object.freeze({ kind: 'user', user, revoked: revocation.signal, pageAllowed: true }),
  };
}

/** The problems of keys that stand for two owners: a look-up could find only one of them. */
export function sharedKeyProblems(keys: readonly HashedKey[]): readonly string[] {
  const first = new Map<string, CredentialOwner>();
  return keys.flatMap(({ sha256, owner }) => {
    const known = first.get(sha256);
    first.set(sha256, known ?? owner);
    if (known === undefined || JSON.stringify(known) === JSON.stringify(owner)) return [];
    return [`${known.subject} and ${owner.subject} have the same key`];
  });
}
