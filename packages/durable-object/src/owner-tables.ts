import type { LocalOwners, OwnedKey, OwnedKeyPage, Scope } from 'parley-a2a/storage-engine';
import type { KeyTables } from './key-tables.js';
import type { ObjectSql } from './object-context.js';
import type { Retention } from './retention.js';
import type { TaskRows } from './task-rows.js';

/** The parts of the database that the data of users are in. */
export interface OwnerTablesOptions {
  readonly sql: ObjectSql;
  readonly rows: TaskRows;
  readonly keys: KeyTables;
  readonly retention: Retention;
}

const KEYS = `SELECT key, expires AS expiresAt, task AS taskId, turn, reply FROM message_key
  WHERE scope = ? AND key > ? ORDER BY key LIMIT ?`;

/** The data of users. */
export class OwnerTables implements LocalOwners {
  readonly #to: OwnerTablesOptions;

  constructor(options: OwnerTablesOptions) {
    this.#to = options;
  }

  scopes(): readonly Scope[] {
    return this.#to.sql.all<Scope>('SELECT agent, tenant, owner FROM scope ORDER BY pk');
  }

  keys(scope: Scope, { cursor = '', limit }: { readonly cursor?: string; readonly limit: number }): OwnedKeyPage {
    const { sql, rows } = this.#to;
    const pk = rows.scope(scope);
    if (pk === undefined) return { keys: [] };
    const keys = sql
      .all<OwnedKey>(KEYS, pk, cursor, limit)
      .map(({ reply, ...key }) => ({ ...key, reply: reply === null ? null : sql.textOf(reply) }));
    const last = keys.at(-1);
    return keys.length < limit || last === undefined ? { keys } : { keys, next: last.key };
  }

  eraseTasks(scope: Scope, limit: number): readonly string[] {
    const { sql, rows, retention } = this.#to;
    const pk = rows.scope(scope);
    if (pk === undefined) return [];
    const found = sql.all<{ pk: number; id: string }>('SELECT pk, id FROM task WHERE scope = ? LIMIT ?', pk, limit);
    for (const task of found) retention.remove(task.pk);
    return found.map(({ id }) => id);
  }

  eraseKeys(scope: Scope, limit: number): number {
    const { rows, keys } = this.#to;
    const pk = rows.scope(scope);
    return pk === undefined ? 0 : keys.dropOf(pk, limit);
  }

  eraseName(scope: Scope): void {
    const { sql, rows } = this.#to;
    const pk = rows.scope(scope);
    if (pk !== undefined) sql.run('DELETE FROM scope WHERE pk = ?', pk);
  }

  scrub(): void {
    // The platform owns the files, and keeps earlier states of them for its point-in-time recovery.
  }
}
