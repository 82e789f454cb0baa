import type { OwnerBlocks } from '../owner-blocks.js';
import { isOwnedBy, type OwnerQuery } from '../owner-query.js';
import type {
  ErasedRows,
  ListedScope,
  OwnedKeyPage,
  OwnedTaskPage,
  OwnedTaskRange,
  OwnerStorage,
  ScopeRange,
} from '../owner-storage.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { WakeupListener } from '../wakeups.js';
import type { OwnedRows } from './erase-owned.js';
import type { LocalOwners } from './local-tables.js';

/** The dependencies of the data of users. */
interface LocalOwnerStorageOptions {
  readonly tables: { readonly owners: LocalOwners; transaction<R>(work: () => R): R };
  readonly lifetime: ClockedLifetime;
  readonly blocks: OwnerBlocks;
  readonly wakeups: Pick<WakeupListener, 'taskChanged'>;
}

/** The data of users over synchronous tables. */
export class LocalOwnerStorage implements OwnerStorage {
  readonly #to: LocalOwnerStorageOptions;

  constructor(options: LocalOwnerStorageOptions) {
    this.#to = options;
  }

  async block(owner: OwnerQuery, forMs: number): Promise<void> {
    this.#to.blocks.set(owner, this.#to.lifetime.now() + forMs);
  }

  async scopes(owner: OwnerQuery): Promise<readonly Scope[]> {
    this.#to.lifetime.check();
    return [...this.#to.tables.owners.scopes()].filter((scope) => isOwnedBy(owner, scope));
  }

  async listScopes(range: ScopeRange): Promise<readonly ListedScope[]> {
    this.#to.lifetime.check();
    // Loaded on demand, because only operators list the scopes of all owners.
    const { FirstScopes } = await import('../first-scopes.js');
    const first = new FirstScopes(range);
    for (const scope of this.#to.tables.owners.scopes()) first.add(scope);
    return first.page;
  }

  async allTasks(range: OwnedTaskRange): Promise<OwnedTaskPage> {
    return this.#to.tables.owners.tasks(range, this.#to.lifetime.now());
  }

  async keys(scope: Scope, range: { readonly cursor?: string; readonly limit: number }): Promise<OwnedKeyPage> {
    this.#to.lifetime.check();
    return this.#to.tables.owners.keys(scope, range);
  }

  async erase(scope: Scope, limit: number): Promise<ErasedRows> {
    const { tables, lifetime, wakeups } = this.#to;
    // Loaded on demand, because most processes erase nothing.
    const { eraseOwned } = await import('./erase-owned.js');
    lifetime.check();
    const { owners } = tables;
    const rows: OwnedRows = {
      tasks: (most) => {
        const gone = owners.eraseTasks(scope, most);
        return { found: gone.length, ids: gone };
      },
      keys: (most) => owners.eraseKeys(scope, most),
      rest: () => {
        owners.eraseName(scope);
        return 0;
      },
    };
    const { ids, ...erased } = tables.transaction(() => eraseOwned(rows, limit));
    for (const id of ids) wakeups.taskChanged({ scope, id });
    return erased;
  }

  async scrub(): Promise<void> {
    this.#to.lifetime.check();
    this.#to.tables.owners.scrub();
  }
}
