import type { Message } from '../../model/message.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { MemorySpaces } from './memory-space.js';
import { type RememberedKeys, rememberedOf } from './remembered-keys.js';

/** The parts of a storage that its idempotency keys need. */
export interface MemoryKeysOptions {
  readonly lifetime: ClockedLifetime;
  readonly spaces: MemorySpaces;
  readonly remembered: RememberedKeys;
}

/** The idempotency keys of a storage in memory. */
export class MemoryKeys implements IdempotencyKeys {
  readonly #lifetime: ClockedLifetime;
  readonly #spaces: MemorySpaces;
  readonly #remembered: RememberedKeys;

  constructor({ lifetime, spaces, remembered }: MemoryKeysOptions) {
    this.#lifetime = lifetime;
    this.#spaces = spaces;
    this.#remembered = remembered;
  }

  async reserve(scope: Scope, key: IdempotencyKey, { node, leaseMs }: Lease): Promise<Reservation> {
    const now = this.#lifetime.now();
    const { standing, kept } = this.#remembered.standing(scope, key.key, { node, now });
    if (standing === 'known' && kept !== undefined) return { kind: 'known', first: rememberedOf(kept) };
    if (standing === 'reserved' && kept !== undefined) return { kind: 'taken', digest: kept.digest };
    const reservation = { node, leaseEnd: now + leaseMs };
    this.#remembered.put(this.#spaces.of(scope), key, { outcome: undefined, reservation, now });
    return { kind: 'reserved' };
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    const kept = this.#remembered.find(this.#spaces.find(scope), key);
    if (kept?.reservation?.node === node) this.#remembered.drop(kept);
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    const now = this.#lifetime.now();
    const { standing, kept } = this.#remembered.standing(scope, key.key, { node: undefined, now });
    if (standing === 'known' && kept !== undefined) return rememberedOf(kept);
    const outcome = { reply };
    this.#remembered.put(this.#spaces.of(scope), key, { outcome, reservation: undefined, now });
    return { digest: key.digest, outcome };
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    const now = this.#lifetime.now();
    const { standing, kept } = this.#remembered.standing(scope, key, { node: undefined, now });
    return standing === 'known' && kept !== undefined ? rememberedOf(kept) : undefined;
  }
}
