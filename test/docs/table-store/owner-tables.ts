import {
  FirstTasks,
  factsOfTask,
  type LocalOwners,
  type OwnedKeyPage,
  type OwnedTaskPage,
  type OwnedTaskRange,
  type Scope,
} from 'parley-a2a/storage-engine';
import { isIn, type Tables, type TaskRow } from './rows.js';
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

  tasks(range: OwnedTaskRange, now: number): OwnedTaskPage {
    const first = new FirstTasks<TaskRow>(range);
    for (const row of this.#tables.tasks.filter(({ hasEnded }) => hasEnded === range.hasEnded)) {
      first.add(row.endedAt ?? row.statusTime, row.key, row);
    }
    return first.pageOf((row) => factsOfTask(row.key, row, { statusTime: row.statusTime, now }));
  }

  keys(scope: Scope, { cursor = '', limit }: { readonly cursor?: string; readonly limit: number }): OwnedKeyPage {
    const all = this.#tables.keys.filter((row) => isIn(scope, row.scope) && row.key > cursor);
    const found = all.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit);
    const keys = found.map(({ key, expiresAt, taskId, turn, reply }) => ({ key, expiresAt, taskId, turn, reply }));
    return all.length > limit ? { keys, next: keys.at(-1)?.key ?? '' } : { keys };
  }

  eraseTasks(scope: Scope, limit: number): readonly string[] {
    const tasks = this.#tables.tasks.filter(({ key }) => isIn(scope, key.scope)).slice(0, limit);
    for (const row of tasks) this.#lists.remove(row);
    return tasks.map(({ key }) => key.id);
  }

  eraseKeys(scope: Scope, limit: number): number {
    const keys = this.#tables.keys.filter((row) => isIn(scope, row.scope)).slice(0, limit);
    for (const { name } of keys) this.#tables.keys.delete(name);
    return keys.length;
  }

  eraseName(): void {
    // This store has no table of scopes.
  }

  scrub(): void {
    // Deleted rows leave nothing.
  }
}
