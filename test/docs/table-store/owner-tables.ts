import type { LocalOwners, OwnedKeyPage, Scope } from 'parley-a2a/storage-engine';
import { isIn, type Tables } from './rows.js';
import type { TaskLists } from './task-lists.js';

/** The data of users. */
export class OwnerTables implements LocalOwners {
  readonly #tables: Tables;
  readonly #lists: TaskLists;

  constructor(tables: Tables, lists: TaskLists) {
    this.#tables = tables;
    this.#lists = lists;
  }

  scopes(): Iterable<Scope> {
    const tasks = this.#tables.tasks.filter(() => true).map(({ key }) => key.scope);
    const keys = this.#tables.keys.filter(() => true).map(({ scope }) => scope);
    return new Map([...tasks, ...keys].map((scope) => [JSON.stringify(Object.values(scope)), scope])).values();
  }

  keys(scope: Scope, { cursor = '', limit }: { readonly cursor?: string; readonly limit: number }): OwnedKeyPage {
    const all = this.#tables.keys.filter((row) => isIn(scope, row.scope) && row.key > cursor);
    const found = all.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit);
    const keys = found.map(({ key, expiresAt, taskId, turn, reply }) => ({ key, expiresAt, taskId, turn, reply }));
    return all.length > limit ? { keys, next: keys.at(-1)?.key ?? '' } : { keys };
  }

  erase(scope: Scope, limit: number): ReturnType<LocalOwners['erase']> {
    const tasks = this.#tables.tasks.filter(({ key }) => isIn(scope, key.scope)).slice(0, limit);
    for (const row of tasks) this.#lists.remove(row);
    const all = this.#tables.keys.filter((row) => isIn(scope, row.scope));
    const keys = all.slice(0, limit - tasks.length);
    for (const { name } of keys) this.#tables.keys.delete(name);
    return { ids: tasks.map(({ key }) => key.id), keys: keys.length, isGone: tasks.length + keys.length === 0 };
  }

  scrub(): void {
    // Deleted rows leave nothing.
  }
}
