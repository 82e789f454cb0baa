import {
  cursorOfPlace,
  factsOfTask,
  isTerminal,
  type LocalOwners,
  type OwnedKey,
  type OwnedKeyPage,
  type OwnedTask,
  type OwnedTaskPage,
  type OwnedTaskRange,
  rowPlaceOf,
  type Scope,
  TASK_STATES,
} from 'parley-a2a/storage-engine';
import type { KeyTables } from './key-tables.js';
import type { ObjectSql } from './object-context.js';
import type { Retention } from './retention.js';
import type { TaskRows } from './task-rows.js';

/** The tables with the data of users. */
interface OwnerTablesOptions {
  readonly sql: ObjectSql;
  readonly rows: TaskRows;
  readonly keys: KeyTables;
  readonly retention: Retention;
}

const KEYS = `SELECT key, expires AS expiresAt, task AS taskId, turn, reply FROM message_key
  WHERE scope = ? AND key > ? ORDER BY key LIMIT ?`;

const OPEN = `SELECT t.pk, t.status_time AS time, t.status_time AS statusTime FROM scope s CROSS JOIN json_each(?4) n
  CROSS JOIN task t INDEXED BY task_state ON t.scope = s.pk AND t.state = n.value
  WHERE t.status_time >= ?1 AND (t.status_time > ?1 OR t.pk > ?2) ORDER BY t.status_time, t.pk LIMIT ?3`;
const ENDED = `SELECT pk, ended AS time, status_time AS statusTime FROM task INDEXED BY task_ended
  WHERE ended IS NOT NULL AND ended <= ?1 AND (ended < ?1 OR pk < ?2) ORDER BY ended DESC, pk DESC LIMIT ?3`;
const OPEN_STATES = JSON.stringify(TASK_STATES.filter((state) => !isTerminal(state)));

/** The data of users. */
export class OwnerTables implements LocalOwners {
  readonly #to: OwnerTablesOptions;

  constructor(options: OwnerTablesOptions) {
    this.#to = options;
  }

  scopes(): readonly Scope[] {
    return this.#to.sql.all<Scope>('SELECT agent, tenant, owner FROM scope ORDER BY pk');
  }

  tasks(range: OwnedTaskRange, now: number): OwnedTaskPage {
    const { sql, rows } = this.#to;
    const { time, pk } = rowPlaceOf(range);
    type Place = { readonly pk: number; readonly time: number; readonly statusTime: number };
    const listed = range.hasEnded
      ? sql.all<Place>(ENDED, time, pk, range.limit)
      : sql.all<Place>(OPEN, time, pk, range.limit, OPEN_STATES);
    const tasks = listed.flatMap((place): readonly OwnedTask[] => {
      const row = rows.get(place.pk);
      if (row === undefined) return [];
      const cursor = cursorOfPlace({ time: place.time, tie: String(place.pk) });
      return [{ ...factsOfTask(row.key, row, { statusTime: place.statusTime, now }), cursor }];
    });
    return { tasks, isLast: listed.length < range.limit };
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
