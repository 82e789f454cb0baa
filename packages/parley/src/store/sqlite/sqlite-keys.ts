import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { Message } from '../../model/message.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { FileReads } from './file-reads.js';
import type { GroupCommit } from './group-commit.js';
import { readRemembered, rememberedOf } from './read-keys-and-configs.js';
import { lastingOf, scopeFields } from './to-write-requests.js';

/** The dependencies of the idempotency keys. */
interface SqliteKeysOptions {
  readonly lifetime: ClockedLifetime;
  readonly commits: GroupCommit;
  readonly reads: FileReads;
}

/** The idempotency keys in a file. */
export class SqliteKeys implements IdempotencyKeys {
  readonly #lifetime: ClockedLifetime;
  readonly #commits: GroupCommit;
  readonly #reads: FileReads;

  constructor({ lifetime, commits, reads }: SqliteKeysOptions) {
    this.#lifetime = lifetime;
    this.#commits = commits;
    this.#reads = reads;
  }

  async reserve(scope: Scope, idempotency: IdempotencyKey, lease: Lease): Promise<Reservation> {
    const { key, ttlMs, digest } = idempotency;
    const now = this.#lifetime.now();
    const { node, leaseMs } = lease;
    const lasting = lastingOf(idempotency);
    const row = { scope: scopeFields(scope), now, key, expiresAt: now + ttlMs, digest, node, leaseMs, lasting };
    const result = await this.#commits.do(['reserve', row]);
    switch (result.kind) {
      case 'blocked':
        throw new OwnerBlockedError();
      case 'written':
        return { kind: 'reserved' };
      case 'known':
        return { kind: 'known', first: rememberedOf(result.row) };
      case 'reserved':
        return { kind: 'taken', digest: result.row.digest };
    }
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#lifetime.check();
    await this.#commits.do(['unreserve', { scope: scopeFields(scope), key, node }]);
  }

  async remember(scope: Scope, idempotency: IdempotencyKey, reply: Message): Promise<Remembered> {
    const { key, ttlMs, digest } = idempotency;
    const now = this.#lifetime.now();
    const lasting = lastingOf(idempotency);
    const row = { now, key, expiresAt: now + ttlMs, digest, reply: JSON.stringify(reply), lasting };
    const result = await this.#commits.do(['remember', { scope: scopeFields(scope), ...row }]);
    if (result.kind === 'blocked') throw new OwnerBlockedError();
    return 'row' in result ? rememberedOf(result.row) : { digest, outcome: { reply } };
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    const now = this.#lifetime.now();
    return this.#reads.here((tables) => readRemembered(tables, { scope, key, now }));
  }
}
