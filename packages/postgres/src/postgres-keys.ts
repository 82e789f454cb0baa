import type {
  Clock,
  IdempotencyKey,
  IdempotencyKeys,
  Lease,
  Message,
  Remembered,
  Reservation,
  Scope,
  StorageLifetime,
} from 'parley-a2a/storage-engine';
import { recall, remember, reserve, unreserve } from './message-keys.js';
import type { StoredScopes } from './stored-names.js';
import type { Tables } from './tables.js';

/** The dependencies of the idempotency keys. */
interface PostgresKeysOptions {
  readonly lifetime: StorageLifetime;
  readonly tables: Tables;
  readonly scopes: StoredScopes;
  readonly clock: Clock;
}

/** The idempotency keys in a database. The engine makes the decisions. */
export class PostgresKeys implements IdempotencyKeys {
  readonly #lifetime: StorageLifetime;
  readonly #tables: Tables;
  readonly #scopes: StoredScopes;
  readonly #clock: Clock;

  constructor({ lifetime, tables, scopes, clock }: PostgresKeysOptions) {
    this.#lifetime = lifetime;
    this.#tables = tables;
    this.#scopes = scopes;
    this.#clock = clock;
  }

  async reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation> {
    this.#lifetime.check();
    return reserve(this.#tables, this.#scopes.of(scope), { key, lease, clock: this.#clock });
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    await unreserve(this.#tables, this.#scopes.of(scope), { key, node });
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    this.#lifetime.check();
    return remember(this.#tables, this.#scopes.of(scope), { key, reply, clock: this.#clock });
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    this.#lifetime.check();
    return recall(this.#tables, this.#scopes.of(scope), key);
  }
}
