import type { Message } from '../../model/message.js';
import type { KeyToWrite, LocalKeys } from '../engine/local-tables.js';
import type { IdempotencyKey, Remembered } from '../idempotency-keys.js';
import { type KeyHead, REMEMBERED_SHARES } from '../rules/key-head.js';
import type { Scope } from '../task-key.js';
import { NONE } from './hash-index.js';
import type { MemorySpace, MemorySpaces } from './memory-space.js';
import { type KeptKey, type KeyList, PackedKeys } from './packed-keys.js';

/** The dependencies of the idempotency keys. */
interface RememberedKeysOptions {
  readonly spaces: MemorySpaces;
  /** The maximum number of keys, and of bytes with their replies. */
  readonly limits: { readonly keys: number; readonly bytes: number };
}

type KeyReservation = NonNullable<KeyHead['reservation']>;

/** A stored key with its current reservation. */
export interface RememberedKey extends KeptKey, KeyHead {
  readonly shelf: Shelf;
  readonly slot: number;
  readonly space: MemorySpace;
  /** Absent once the outcome is known. */
  readonly reservation: KeyReservation | undefined;
}

/** Keys with separate limits. */
interface Shelf {
  readonly keys: PackedKeys;
  /** By slot. */
  readonly reservations: Map<number, KeyReservation>;
  /** The keys of owners above their share. */
  readonly large: Set<KeyList>;
}

/**
 * The idempotency keys of a storage in memory. Above a limit the oldest keys are evicted, first those of owners above
 * their share. Lasting keys have separate limits of the same size.
 */
export class RememberedKeys implements LocalKeys<RememberedKey> {
  readonly #spaces: MemorySpaces;
  readonly #limits: RememberedKeysOptions['limits'];
  readonly #passing = newShelf();
  readonly #lasting = newShelf();
  readonly #hashOf = keyHash();

  constructor({ spaces, limits }: RememberedKeysOptions) {
    this.#spaces = spaces;
    this.#limits = limits;
  }

  find(scope: Scope, key: string): RememberedKey | undefined {
    const space = this.#spaces.find(scope);
    if (space === undefined) return undefined;
    const hash = this.#hashOf(space, key);
    return findKey(this.#passing, space, key, hash) ?? findKey(this.#lasting, space, key, hash);
  }

  remove({ shelf, slot }: RememberedKey): void {
    this.#drop(shelf, slot);
  }

  digestOf({ digest }: RememberedKey): string {
    return digest;
  }

  rememberedOf({ digest, outcome }: RememberedKey): Remembered {
    if (outcome === undefined) throw new TypeError('A reserved key has no outcome');
    return { digest, outcome: typeof outcome === 'string' ? { reply: JSON.parse(outcome) as Message } : outcome };
  }

  /** Stores a key. Evicts the oldest keys if needed. */
  put(
    scope: Scope,
    { key, digest, ttlMs, isLasting }: IdempotencyKey,
    { before, outcome, reservation, now }: KeyToWrite<RememberedKey>,
  ): void {
    const space = this.#spaces.of(scope);
    if (before !== undefined) this.#forget(before.shelf, before.slot);
    const shelf = isLasting === true ? this.#lasting : this.#passing;
    const kept = {
      key,
      digest,
      outcome: outcome !== undefined && 'reply' in outcome ? JSON.stringify(outcome.reply) : outcome,
      expiresAt: now + ttlMs,
    };
    const slot = shelf.keys.add(space, kept, this.#hashOf(space, key));
    if (reservation !== undefined) shelf.reservations.set(slot, reservation);
    space.keyCount += 1;
    this.#noteSize(shelf, shelf.keys.ownedWith(slot));
    // A key larger than the limit evicts no other key.
    if (shelf.keys.bytesOf(slot) > this.#limits.bytes) return this.#drop(shelf, slot);
    const { all } = shelf.keys;
    while (all.size > this.#limits.keys || all.bytes > this.#limits.bytes) this.#drop(shelf, nextToGo(shelf, slot));
  }

  /** Removes at most `limit` expired keys. Returns their number. */
  sweep(now: number, limit: number): number {
    let dropped = 0;
    for (const shelf of [this.#passing, this.#lasting]) {
      for (let slot = shelf.keys.all.first; slot !== NONE && dropped < limit; ) {
        const after = shelf.keys.after(slot);
        if (shelf.keys.expiryOf(slot) <= now) {
          this.#drop(shelf, slot);
          dropped += 1;
        }
        slot = after;
      }
    }
    return dropped;
  }

  /** The keys of a space, including expired ones. Reads the keys of all spaces. */
  *of(space: MemorySpace): Generator<KeptKey> {
    for (const { keys } of [this.#passing, this.#lasting]) {
      for (let slot = keys.all.first; slot !== NONE; slot = keys.after(slot)) {
        if (keys.spaceOf(slot) === space) yield keys.read(slot);
      }
    }
  }

  /** Removes at most `limit` keys of a space. Returns their number. */
  drop(space: MemorySpace, limit: number): number {
    let dropped = 0;
    for (const shelf of [this.#passing, this.#lasting]) {
      for (let slot = shelf.keys.all.first; slot !== NONE && dropped < limit; ) {
        const after = shelf.keys.after(slot);
        if (shelf.keys.spaceOf(slot) === space) {
          this.#drop(shelf, slot);
          dropped += 1;
        }
        slot = after;
      }
    }
    return dropped;
  }

  #noteSize({ large }: Shelf, owned: KeyList): void {
    const { keys, bytes } = this.#limits;
    const isLarge = owned.size > keys / REMEMBERED_SHARES || owned.bytes > bytes / REMEMBERED_SHARES;
    if (isLarge === large.has(owned)) return;
    if (isLarge) large.add(owned);
    else large.delete(owned);
  }

  #drop(shelf: Shelf, slot: number): void {
    const space = shelf.keys.spaceOf(slot);
    this.#forget(shelf, slot);
    this.#spaces.release(space);
  }

  #forget(shelf: Shelf, slot: number): void {
    const { keys, reservations } = shelf;
    const owned = keys.ownedWith(slot);
    keys.spaceOf(slot).keyCount -= 1;
    keys.remove(slot);
    if (reservations.size > 0) reservations.delete(slot);
    this.#noteSize(shelf, owned);
  }
}

/** Returns the slot of the key to evict for a new one. Never the new one itself. */
function nextToGo({ keys, large }: Shelf, added: number): number {
  const owned = keys.ownedWith(added);
  if (large.has(owned) && owned.first !== added) return owned.first;
  for (const { first } of large) if (first !== added) return first;
  return keys.all.first;
}

function newShelf(): Shelf {
  return { keys: new PackedKeys(), reservations: new Map(), large: new Set() };
}

function findKey(shelf: Shelf, space: MemorySpace, key: string, hash: number): RememberedKey | undefined {
  const slot = shelf.keys.find(space, key, hash);
  if (slot === NONE) return undefined;
  const kept = shelf.keys.read(slot);
  const isTaskGone = typeof kept.outcome === 'object' && !space.tasks.has(kept.outcome.taskId);
  return { ...kept, shelf, slot, space, reservation: shelf.reservations.get(slot), isTaskGone };
}

/**
 * Makes a hash function with a random seed for each storage, so that callers cannot choose keys with equal hashes. The
 * same key has different hashes in different scopes.
 */
function keyHash(): (space: MemorySpace, key: string) => number {
  const [start = 0, factor = 0] = crypto.getRandomValues(new Int32Array(2));
  const odd = factor | 1;
  return ({ salt }, key) => {
    let hash = Math.imul(start ^ salt, odd);
    hash ^= hash >>> 15;
    for (let at = 0; at < key.length; at += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(at), odd);
      hash ^= hash >>> 15;
    }
    return hash;
  };
}
