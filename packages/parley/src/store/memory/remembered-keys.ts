import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { Message } from '../../model/message.js';
import { knownKey, rememberKey, reserveKey } from '../engine/message-keys.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import type { OwnerBlocks } from '../owner-blocks.js';
import { type KeyHead, REMEMBERED_SHARES } from '../rules/key-head.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import { NONE } from './hash-index.js';
import type { MemorySpace, MemorySpaces } from './memory-space.js';
import { type KeptKey, type KeyList, PackedKeys } from './packed-keys.js';

/** The parts of a storage that its idempotency keys need. */
export interface RememberedKeysOptions {
  readonly lifetime: ClockedLifetime;
  readonly spaces: MemorySpaces;
  readonly blocks: OwnerBlocks;
  /** The limits of what is kept: count of keys, and bytes with their replies. */
  readonly limits: { readonly keys: number; readonly bytes: number };
}

/** A node that finds out the outcome of a key, and the end of its lease. */
interface KeyReservation {
  readonly node: string;
  readonly leaseEnd: number;
}

/** A kept key, as it is now. */
export interface RememberedKey extends KeptKey, KeyHead {
  readonly shelf: Shelf;
  readonly slot: number;
  readonly space: MemorySpace;
  /** Absent once the outcome is known. */
  readonly reservation: KeyReservation | undefined;
}

/** The part of a key that its storage knows. */
export interface PutKey {
  readonly outcome: Remembered['outcome'] | undefined;
  readonly reservation?: KeyReservation;
  /** By the storage's clock, in ms. */
  readonly now: number;
  /** The kept key with the same name. The new one replaces it. */
  readonly before: RememberedKey | undefined;
}

/** Keys with limits of their own. */
interface Shelf {
  readonly keys: PackedKeys;
  /** By slot. */
  readonly reservations: Map<number, KeyReservation>;
  /** The keys of owners who have more than their share. */
  readonly large: Set<KeyList>;
}

/**
 * The idempotency keys of a storage in memory. Over a limit the oldest are dropped, first those of an owner who takes
 * much of the room. Lasting keys have the same limits for themselves.
 */
export class RememberedKeys implements IdempotencyKeys {
  readonly #lifetime: ClockedLifetime;
  readonly #spaces: MemorySpaces;
  readonly #blocks: OwnerBlocks;
  readonly #limits: RememberedKeysOptions['limits'];
  readonly #passing = newShelf();
  readonly #lasting = newShelf();
  readonly #hashOf = keyHash();

  constructor({ lifetime, spaces, blocks, limits }: RememberedKeysOptions) {
    this.#lifetime = lifetime;
    this.#spaces = spaces;
    this.#blocks = blocks;
    this.#limits = limits;
  }

  async reserve(scope: Scope, key: IdempotencyKey, { node, leaseMs }: Lease): Promise<Reservation> {
    const now = this.#lifetime.now();
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    const reservation = { node, leaseEnd: now + leaseMs };
    const write = (before: RememberedKey | undefined) =>
      this.put(this.#spaces.of(scope), key, { outcome: undefined, reservation, now, before });
    const answer = reserveKey(this.find(this.#spaces.find(scope), key.key), { node, now, write });
    if (answer.kind === 'written') return { kind: 'reserved' };
    const { digest } = answer.key;
    return answer.kind === 'reserved' ? { kind: 'taken', digest } : { kind: 'known', first: rememberedOf(answer.key) };
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    const kept = this.find(this.#spaces.find(scope), key);
    if (kept?.reservation?.node === node) this.#drop(kept.shelf, kept.slot);
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    const now = this.#lifetime.now();
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    const outcome = { reply };
    const write = (before: RememberedKey | undefined) =>
      this.put(this.#spaces.of(scope), key, { outcome, now, before });
    const answer = rememberKey(this.find(this.#spaces.find(scope), key.key), { now, write });
    return answer.kind === 'written' ? { digest: key.digest, outcome } : rememberedOf(answer.key);
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    const known = knownKey(this.find(this.#spaces.find(scope), key), this.#lifetime.now());
    return known && rememberedOf(known);
  }

  find(space: MemorySpace | undefined, key: string): RememberedKey | undefined {
    if (space === undefined) return undefined;
    const hash = this.#hashOf(space, key);
    return found(this.#passing, space, key, hash) ?? found(this.#lasting, space, key, hash);
  }

  /** Keeps a key. The oldest keys make room. */
  put(space: MemorySpace, { key, digest, ttlMs, isLasting }: IdempotencyKey, put: PutKey): void {
    const { before, outcome, reservation, now } = put;
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
    // No other key goes for one that is larger than all of the room.
    if (shelf.keys.bytesOf(slot) > this.#limits.bytes) return this.#drop(shelf, slot);
    const { all } = shelf.keys;
    while (all.size > this.#limits.keys || all.bytes > this.#limits.bytes) this.#drop(shelf, nextToGo(shelf, slot));
  }

  /** Forgets at most so many that have expired; how many went. */
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

  /** The keys of a space, those that have expired included. Reads the keys of all spaces. */
  *of(space: MemorySpace): Generator<KeptKey> {
    for (const { keys } of [this.#passing, this.#lasting]) {
      for (let slot = keys.all.first; slot !== NONE; slot = keys.after(slot)) {
        if (keys.spaceOf(slot) === space) yield keys.read(slot);
      }
    }
  }

  /** Drops at most so many keys of a space; how many went. */
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

/** The slot of the key that makes room for a new one. It is another one. */
function nextToGo({ keys, large }: Shelf, added: number): number {
  const owned = keys.ownedWith(added);
  if (large.has(owned) && owned.first !== added) return owned.first;
  for (const { first } of large) if (first !== added) return first;
  return keys.all.first;
}

/** The known outcome of a key. */
export function rememberedOf({ digest, outcome }: RememberedKey): Remembered {
  if (outcome === undefined) throw new TypeError('A reserved key has no outcome');
  return { digest, outcome: typeof outcome === 'string' ? { reply: JSON.parse(outcome) as Message } : outcome };
}

function newShelf(): Shelf {
  return { keys: new PackedKeys(), reservations: new Map(), large: new Set() };
}

function found(shelf: Shelf, space: MemorySpace, key: string, hash: number): RememberedKey | undefined {
  const slot = shelf.keys.find(space, key, hash);
  if (slot === NONE) return undefined;
  const kept = shelf.keys.read(slot);
  const isTaskGone = typeof kept.outcome === 'object' && !space.tasks.has(kept.outcome.taskId);
  return { ...kept, shelf, slot, space, reservation: shelf.reservations.get(slot), isTaskGone };
}

/**
 * A hash function of its own for each storage. Callers cannot choose keys with one hash, and equal keys of several
 * scopes have several hashes.
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
