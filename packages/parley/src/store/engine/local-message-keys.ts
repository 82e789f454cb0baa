import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { Message } from '../../model/message.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import type { OwnerBlocks } from '../owner-blocks.js';
import type { KeyHead } from '../rules/key-head.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { KeyToWrite, LocalKeys } from './local-tables.js';
import { keyIfKnown, rememberKey, reserveKey } from './message-keys.js';

/** The dependencies of the idempotency keys. */
interface LocalMessageKeysOptions<Key extends KeyHead> {
  readonly tables: { readonly keys: LocalKeys<Key>; transaction<R>(work: () => R): R };
  readonly lifetime: ClockedLifetime;
  readonly blocks: OwnerBlocks;
}

/** Idempotency keys over synchronous tables. */
export class LocalMessageKeys<Key extends KeyHead> implements IdempotencyKeys {
  readonly #tables: LocalMessageKeysOptions<Key>['tables'];
  readonly #lifetime: ClockedLifetime;
  readonly #blocks: OwnerBlocks;

  constructor({ tables, lifetime, blocks }: LocalMessageKeysOptions<Key>) {
    this.#tables = tables;
    this.#lifetime = lifetime;
    this.#blocks = blocks;
  }

  async reserve(scope: Scope, key: IdempotencyKey, { node, leaseMs }: Lease): Promise<Reservation> {
    const now = this.#nowFor(scope);
    const write = this.#writer(scope, key, { outcome: undefined, reservation: { node, leaseEnd: now + leaseMs }, now });
    const { keys } = this.#tables;
    const answer = this.#tables.transaction(() => reserveKey(keys.find(scope, key.key), { node, now, write }));
    switch (answer.kind) {
      case 'written':
        return { kind: 'reserved' };
      case 'known':
        return { kind: 'known', first: keys.rememberedOf(answer.key) };
      case 'reserved':
        return { kind: 'taken', digest: keys.digestOf(answer.key) };
    }
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    const { keys } = this.#tables;
    const kept = keys.find(scope, key);
    if (kept?.reservation?.node === node) this.#tables.transaction(() => keys.remove(kept));
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    const now = this.#nowFor(scope);
    const outcome = { reply };
    const write = this.#writer(scope, key, { outcome, now });
    const { keys } = this.#tables;
    const answer = this.#tables.transaction(() => rememberKey(keys.find(scope, key.key), { now, write }));
    return answer.kind === 'written' ? { digest: key.digest, outcome } : keys.rememberedOf(answer.key);
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    const { keys } = this.#tables;
    const known = keyIfKnown(keys.find(scope, key), this.#lifetime.now());
    return known && keys.rememberedOf(known);
  }

  #nowFor(scope: Scope): number {
    const now = this.#lifetime.now();
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    return now;
  }

  #writer(
    scope: Scope,
    key: IdempotencyKey,
    write: Omit<KeyToWrite<Key>, 'before'>,
  ): (before: Key | undefined) => void {
    return (before) => this.#tables.keys.put(scope, key, { ...write, before });
  }
}
