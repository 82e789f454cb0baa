import {
  type CopiedKey,
  type CopiedTask,
  inUseError,
  SILENCE_MS,
  StorageError,
  type TaskTransfer,
  type TransferCounts,
} from 'parley-a2a/storage-engine';
import { PostgresConnections } from './connections.js';
import { changesIn, migrate } from './migrate.js';
import { type PostgresStorageOptions, postgresPlan } from './postgres-options.js';
import { copiedKeys, copiedTasks, countCopies } from './read-copies.js';
import { SCHEMA_CHANGES } from './schema.js';
import { StoredScopes } from './stored-names.js';
import { PostgresTables, type Sql } from './tables.js';
import { keyRow, PUT_KEYS, PUT_TASKS, taskRow } from './write-copies.js';

/** Time limit of a statement in ms. A batch has a few megabytes, or one long log. */
const STATEMENT_MS = 300_000;
const ALIVE: Sql = {
  name: 'alive-nodes',
  text: 'SELECT node FROM parley.node WHERE seen > parley.now_ms() - $1',
  repeatable: true,
};

/** A PostgreSQL database as source or target of a copy. It cannot exclude servers that start during the copy. */
export class PostgresTransfer implements TaskTransfer {
  readonly #connections: PostgresConnections;
  readonly #tables: PostgresTables;
  readonly #scopes = new StoredScopes();

  readonly #role: 'source' | 'target';

  private constructor(connections: PostgresConnections, role: 'source' | 'target') {
    this.#connections = connections;
    this.#role = role;
    this.#tables = new PostgresTables(connections);
  }

  /**
   * Connects. The tables of a target are created or migrated, those of a source must be of this version.
   * @throws StorageError if the database cannot be used, or a server has used it in the last seconds.
   */
  static async open(options: PostgresStorageOptions, role: 'source' | 'target'): Promise<PostgresTransfer> {
    const { clock, logger } = options;
    const plan = { ...postgresPlan(options), statementTimeoutMs: STATEMENT_MS };
    const connections = new PostgresConnections({ plan, clock, logger });
    try {
      if (role === 'target') await migrate(connections);
      else if ((await changesIn(connections, plan.schema)).length !== SCHEMA_CHANGES.length) {
        throw new StorageError(`${plan.subject} has no tables of this version: start a server on it once`);
      }
      const transfer = new PostgresTransfer(connections, role);
      const [node] = await transfer.#tables.query(ALIVE, SILENCE_MS);
      if (node !== undefined) throw inUseError(plan.subject);
      return transfer;
    } catch (error) {
      await connections.close();
      throw error;
    }
  }

  counts(): Promise<TransferCounts> {
    return countCopies(this.#tables, this.#role);
  }

  tasks(): AsyncIterable<CopiedTask> {
    return copiedTasks(this.#tables, this.#scopes);
  }

  keys(): AsyncIterable<CopiedKey> {
    return copiedKeys(this.#tables);
  }

  async putTasks(tasks: readonly CopiedTask[]): Promise<number> {
    const rows = JSON.stringify(tasks.map((task, n) => taskRow(this.#scopes, task, n)));
    const [row] = await this.#tables.query<{ readonly tasks: number }>(PUT_TASKS, rows);
    return row?.tasks ?? 0;
  }

  async putKeys(keys: readonly CopiedKey[]): Promise<void> {
    await this.#tables.query(PUT_KEYS, JSON.stringify(keys.map((key) => keyRow(this.#scopes, key))));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
