import type { Message } from '../../model/message.js';
import { LinkedList, Place } from '../../runtime/linked-list.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import { type KeyStanding, keyStanding, REMEMBERED_SHARES } from '../rules/key-rules.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { MemorySpace, MemorySpaces } from './memory-space.js';

/** The parts of a storage that its idempotency keys need. */
export interface RememberedKeysOptions {
  readonly lifetime: ClockedLifetime;
  readonly spaces: MemorySpaces;
  /** The limits of what is kept: count of keys, and bytes with their replies. */
  readonly limits: { readonly keys: number; readonly bytes: number };
}

/** Objects and places of a key. */
const FRAME = 300;

/** The turn that a message started, or the direct reply as JSON: text costs less to keep. */
type KeptOutcome = { readonly taskId: string; readonly turn: number } | string;

/** A kept key. It is its own place among all keys, so that a key takes one object. */
export class RememberedKey extends Place<RememberedKey> {
  readonly space: MemorySpace;
  readonly key: string;
  readonly digest: string;
  readonly expiresAt: number;
  readonly isLasting: boolean;
  /** Absent while the key is reserved. */
  readonly outcome: KeptOutcome | undefined;
  /** The node that finds out the outcome, and the end of its lease. */
  readonly reservation: { readonly node: string; readonly leaseEnd: number } | undefined;

  constructor(
    space: MemorySpace,
    { key, digest, ttlMs, isLasting = false }: IdempotencyKey,
    { outcome, reservation, now }: PutKey,
  ) {
    super();
    this.value = this;
    this.space = space;
    this.key = key;
    this.digest = digest;
    this.expiresAt = now + ttlMs;
    this.isLasting = isLasting;
    this.outcome = outcome !== undefined && 'reply' in outcome ? JSON.stringify(outcome.reply) : outcome;
    this.reservation = reservation;
  }

  /** About how much it takes. */
  get bytes(): number {
    const { key, outcome } = this;
    return FRAME + 2 * (key.length + (typeof outcome === 'string' ? outcome.length : (outcome?.taskId.length ?? 0)));
  }
}

/** The part of a key that its storage knows. */
export interface PutKey extends Partial<Pick<RememberedKey, 'reservation'>> {
  readonly outcome: Remembered['outcome'] | undefined;
  /** By the storage's clock, in ms. */
  readonly now: number;
  /** The kept key with the same name. The new one replaces it. */
  readonly before: RememberedKey | undefined;
}

/** Keys with limits of their own, oldest first. */
interface Shelf {
  readonly list: LinkedList<RememberedKey>;
  bytes: number;
}

/**
 * The idempotency keys of a storage in memory. Over a limit the oldest are dropped, first those of a scope that takes
 * much of the room. Lasting keys have the same limits for themselves.
 */
export class RememberedKeys implements IdempotencyKeys {
  readonly #lifetime: ClockedLifetime;
  readonly #spaces: MemorySpaces;
  readonly #limits: RememberedKeysOptions['limits'];
  readonly #passing: Shelf = { list: new LinkedList(), bytes: 0 };
  readonly #lasting: Shelf = { list: new LinkedList(), bytes: 0 };
  /** The scope that had the most bytes when it got its last key. */
  #largest: MemorySpace | undefined;

  constructor({ lifetime, spaces, limits }: RememberedKeysOptions) {
    this.#lifetime = lifetime;
    this.#spaces = spaces;
    this.#limits = limits;
  }

  async reserve(scope: Scope, key: IdempotencyKey, { node, leaseMs }: Lease): Promise<Reservation> {
    const now = this.#lifetime.now();
    const { standing, kept } = this.standing(scope, key.key, { node, now });
    if (standing === 'known' && kept !== undefined) return { kind: 'known', first: rememberedOf(kept) };
    if (standing === 'reserved' && kept !== undefined) return { kind: 'taken', digest: kept.digest };
    const reservation = { node, leaseEnd: now + leaseMs };
    this.put(this.#spaces.of(scope), key, { outcome: undefined, reservation, now, before: kept });
    return { kind: 'reserved' };
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    const kept = this.find(this.#spaces.find(scope), key);
    if (kept?.reservation?.node === node) this.#drop(kept);
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    const now = this.#lifetime.now();
    const { standing, kept } = this.standing(scope, key.key, { node: undefined, now });
    if (standing === 'known' && kept !== undefined) return rememberedOf(kept);
    const outcome = { reply };
    this.put(this.#spaces.of(scope), key, { outcome, now, before: kept });
    return { digest: key.digest, outcome };
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    const now = this.#lifetime.now();
    const { standing, kept } = this.standing(scope, key, { node: undefined, now });
    return standing === 'known' && kept !== undefined ? rememberedOf(kept) : undefined;
  }

  find(space: MemorySpace | undefined, key: string): RememberedKey | undefined {
    return space?.keys.get(key);
  }

  /** The standing of a key for a node, and the key as it is kept. */
  standing(
    scope: Scope,
    key: string,
    { node, now }: { readonly node: string | undefined; readonly now: number },
  ): { readonly standing: KeyStanding; readonly kept: RememberedKey | undefined } {
    const kept = this.find(this.#spaces.find(scope), key);
    if (kept === undefined) return { standing: 'free', kept };
    const { space, outcome, expiresAt, reservation } = kept;
    const isTaskGone = typeof outcome === 'object' && !space.tasks.has(outcome.taskId);
    return { standing: keyStanding({ expiresAt, reservation, isTaskGone }, node, now), kept };
  }

  /** Keeps a key. The oldest keys make room. */
  put(space: MemorySpace, key: IdempotencyKey, put: PutKey): void {
    const { before } = put;
    if (before !== undefined) this.#forget(before);
    const added = new RememberedKey(space, key, put);
    const shelf = this.#shelfOf(added);
    shelf.list.append(added);
    space.keys.set(added.key, added);
    this.#count(added, 1);
    if (this.#largest === undefined || space.keyBytes > this.#largest.keyBytes) this.#largest = space;
    while (shelf.list.size > this.#limits.keys || shelf.bytes > this.#limits.bytes) {
      const dropped = this.#nextToGo(shelf, space);
      if (dropped === undefined) return;
      this.#drop(dropped);
    }
  }

  /** Forgets at most so many that have expired; how many went. */
  sweep(now: number, limit: number): number {
    let dropped = 0;
    for (const { list } of [this.#passing, this.#lasting]) {
      for (let place = list.first; place !== undefined && dropped < limit; ) {
        const { value: entry, after } = place;
        if (entry !== undefined && entry.expiresAt <= now) {
          this.#drop(entry);
          dropped += 1;
        }
        place = after;
      }
    }
    return dropped;
  }

  #shelfOf({ isLasting }: RememberedKey): Shelf {
    return isLasting ? this.#lasting : this.#passing;
  }

  #count(key: RememberedKey, times: 1 | -1): void {
    const { space, isLasting, bytes } = key;
    this.#shelfOf(key).bytes += times * bytes;
    if (isLasting) return;
    space.countedKeys += times;
    space.keyBytes += times * bytes;
  }

  /** The key that makes room for one of a scope. */
  #nextToGo(shelf: Shelf, adding: MemorySpace): RememberedKey | undefined {
    const { list } = shelf;
    const hasLarge = shelf === this.#passing && [adding, this.#largest].some((space) => this.#isLarge(space));
    // A key of a small scope gets another turn. Each does so at most once before a key of a large one goes.
    for (let left = list.size; hasLarge && left > 0 && !this.#isLarge(list.first?.value?.space); left--) list.rotate();
    return list.first?.value;
  }

  #isLarge(space: MemorySpace | undefined): boolean {
    if (space === undefined) return false;
    const { keys, bytes } = this.#limits;
    return space.countedKeys > keys / REMEMBERED_SHARES || space.keyBytes > bytes / REMEMBERED_SHARES;
  }

  #drop(entry: RememberedKey): void {
    this.#forget(entry);
    this.#spaces.release(entry.space);
  }

  #forget(entry: RememberedKey): void {
    if (entry.value === undefined) return;
    this.#shelfOf(entry).list.remove(entry);
    entry.space.keys.delete(entry.key);
    this.#count(entry, -1);
  }
}

/** The known outcome of a key. */
export function rememberedOf({ digest, outcome }: RememberedKey): Remembered {
  if (outcome === undefined) throw new TypeError('A reserved key has no outcome');
  return { digest, outcome: typeof outcome === 'string' ? { reply: JSON.parse(outcome) as Message } : outcome };
}
