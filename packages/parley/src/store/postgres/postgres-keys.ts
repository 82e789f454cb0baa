import type { Message } from '../../model/message.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import type { StorageLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import { recall, rememberLocked, rememberPlain, reserveLocked, reservePlain, unreserve } from './message-keys.js';
import type { StoredScopes } from './stored-names.js';
import type { PostgresTables } from './tables.js';

/** The parts of a storage that its idempotency keys need. */
export interface PostgresKeysOptions {
  readonly lifetime: StorageLifetime;
  readonly tables: PostgresTables;
  readonly scopes: StoredScopes;
}

/** The idempotency keys in a database. A key that may be known, or that another node holds, is locked. */
export class PostgresKeys implements IdempotencyKeys {
  readonly #lifetime: StorageLifetime;
  readonly #tables: PostgresTables;
  readonly #scopes: StoredScopes;

  constructor({ lifetime, tables, scopes }: PostgresKeysOptions) {
    this.#lifetime = lifetime;
    this.#tables = tables;
    this.#scopes = scopes;
  }

  async reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation> {
    this.#lifetime.check();
    const stored = this.#scopes.of(scope);
    const plain = await reservePlain(this.#tables, stored, { key, lease });
    return plain ?? this.#tables.transaction((tables) => reserveLocked(tables, stored, { key, lease }));
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    await unreserve(this.#tables, this.#scopes.of(scope), { key, node });
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    this.#lifetime.check();
    const stored = this.#scopes.of(scope);
    const plain = await rememberPlain(this.#tables, stored, { key, reply });
    return plain ?? this.#tables.transaction((tables) => rememberLocked(tables, stored, { key, reply }));
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    this.#lifetime.check();
    return recall(this.#tables, this.#scopes.of(scope), key);
  }
}
