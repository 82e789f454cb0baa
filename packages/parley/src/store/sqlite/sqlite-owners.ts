import type { OwnerQuery } from '../owner-query.js';
import type {
  ErasedRows,
  ListedScope,
  OwnedKey,
  OwnedKeyPage,
  OwnedTaskPage,
  OwnedTaskRange,
  OwnerStorage,
  ScopeRange,
} from '../owner-storage.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { LocalWakeups } from '../wakeups.js';
import type { FileReads } from './file-reads.js';
import type { GroupCommit } from './group-commit.js';
import { LIMIT } from './list-sql.js';
import { scopeFields } from './to-write-requests.js';

/** The dependencies of the data of users. */
interface SqliteOwnersOptions {
  readonly lifetime: ClockedLifetime;
  readonly commits: GroupCommit;
  readonly reads: FileReads;
  readonly wakeups: LocalWakeups;
}

const SCOPES = `SELECT a.name AS agent, s.tenant FROM scope s JOIN agent a ON a.pk = s.agent
  WHERE s.owner IS ? AND a.name = coalesce(?, a.name) AND s.tenant = coalesce(?, s.tenant) ORDER BY s.pk`;
const ALL_SCOPES = `SELECT s.pk, a.name AS agent, s.tenant, s.owner FROM scope s JOIN agent a ON a.pk = s.agent
  WHERE s.pk > ? ORDER BY s.pk ${LIMIT}`;
const KEYS = `SELECT i.key, i.expires AS expiresAt, i.task AS taskId, i.turn, i.reply FROM idempotency i
  JOIN scope s ON s.pk = i.scope JOIN agent a ON a.pk = s.agent
  WHERE a.name = ? AND s.tenant = ? AND s.owner IS ? AND i.key > ? ORDER BY i.key ${LIMIT}`;

/** The data of users in a file. */
export class SqliteOwners implements OwnerStorage {
  readonly #lifetime: ClockedLifetime;
  readonly #commits: GroupCommit;
  readonly #reads: FileReads;
  readonly #wakeups: LocalWakeups;

  constructor({ lifetime, commits, reads, wakeups }: SqliteOwnersOptions) {
    this.#lifetime = lifetime;
    this.#commits = commits;
    this.#reads = reads;
    this.#wakeups = wakeups;
  }

  async block(owner: OwnerQuery, forMs: number): Promise<void> {
    const until = this.#lifetime.now() + forMs;
    await this.#commits.do(['block-owner', { owner, until }]);
  }

  async scopes({ owner, agent, tenant }: OwnerQuery): Promise<readonly Scope[]> {
    this.#lifetime.check();
    const rows = this.#reads.here((tables) =>
      tables.all<Omit<Scope, 'owner'>>(SCOPES, owner, agent ?? null, tenant ?? null),
    );
    // Node.js 22 reads a text only up to its first U+0000.
    return rows.map((row) => ({ agent: row.agent, tenant: row.tenant, owner }));
  }

  async listScopes({ cursor, limit }: ScopeRange): Promise<readonly ListedScope[]> {
    this.#lifetime.check();
    const rows = this.#reads.here((tables) =>
      tables.all<Scope & { readonly pk: number }>(ALL_SCOPES, Number(cursor ?? 0), limit),
    );
    return rows.map(({ pk, agent, tenant, owner }) => ({ scope: { agent, tenant, owner }, cursor: String(pk) }));
  }

  async allTasks(range: OwnedTaskRange): Promise<OwnedTaskPage> {
    return this.#reads.apart('owned', { read: 'owned', range, now: this.#lifetime.now() });
  }

  async keys(
    { agent, tenant, owner }: Scope,
    { cursor = '', limit }: { readonly cursor?: string; readonly limit: number },
  ): Promise<OwnedKeyPage> {
    this.#lifetime.check();
    const rows = this.#reads.here((tables) => tables.all<OwnedKey>(KEYS, agent, tenant, owner, cursor, limit));
    const keys = rows.map((row) => ({ ...row }));
    const last = keys.at(-1);
    return keys.length < limit || last === undefined ? { keys } : { keys, next: last.key };
  }

  async erase(scope: Scope, limit: number): Promise<ErasedRows> {
    this.#lifetime.check();
    const { ids, ...erased } = await this.#commits.do(['erase-owned', { scope: scopeFields(scope), limit }]);
    for (const id of ids) this.#wakeups.taskChanged({ scope, id });
    return erased;
  }

  async scrub(): Promise<void> {
    this.#lifetime.check();
    await this.#commits.do(['scrub']);
  }
}
