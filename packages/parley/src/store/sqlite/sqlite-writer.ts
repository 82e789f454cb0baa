import { accept, create, rememberKey } from './accept-task.js';
import { append } from './append-records.js';
import { claim, release, renew, requestCancel, saveCheckpoint } from './claim-turns.js';
import type { Operation, Settled } from './operations.js';
import { deletePushConfig, putPushConfig } from './push-configs.js';
import { deleteTask, sweep } from './remove-tasks.js';
import type { WriteTables } from './write-tables.js';

/** Does batches of operations, each batch as one transaction. */
export class SqliteWriter {
  readonly #tables: WriteTables;

  constructor(tables: WriteTables) {
    this.#tables = tables;
  }

  /** All leases are void: whoever held them is gone. Their turns wait to be claimed again. */
  voidLeases(): void {
    const tables = this.#tables;
    tables.begin();
    tables.run('UPDATE task SET held = NULL, node = NULL, lease_end = NULL WHERE pk IN (SELECT task FROM execution)');
    tables.run(
      'UPDATE execution SET ready = 1 WHERE turn = (SELECT min(turn) FROM execution e WHERE e.task = execution.task)',
    );
    tables.commit();
  }

  /** The results in the order of the operations. If the batch fails as a whole, each operation is tried on its own. */
  write(batch: readonly Operation[]): readonly Settled[] {
    try {
      return this.#commit(batch).map((result) => [false, result]);
    } catch (error) {
      if (batch.length === 1) return [[true, reasonOf(error)]];
      return batch.map((operation) => this.#alone(operation));
    }
  }

  #alone(operation: Operation): Settled {
    try {
      const [result] = this.#commit([operation]);
      return [false, result];
    } catch (error) {
      return [true, reasonOf(error)];
    }
  }

  #commit(batch: readonly Operation[]): unknown[] {
    try {
      this.#tables.begin();
      const results = batch.map((operation) => perform(this.#tables, operation));
      this.#tables.commit();
      return results;
    } catch (error) {
      this.#tables.rollback();
      throw error;
    }
  }
}

function perform(tables: WriteTables, operation: Operation): unknown {
  switch (operation[0]) {
    case 'accept':
      return accept(tables, operation);
    case 'append':
      return append(tables, operation);
    case 'claim':
      return claim(tables, operation);
    case 'renew':
      return renew(tables, operation);
    case 'release':
      return release(tables, operation);
    case 'checkpoint':
      return saveCheckpoint(tables, operation);
    case 'cancel':
      return requestCancel(tables, operation);
    case 'create':
      return create(tables, operation);
    case 'delete':
      return deleteTask(tables, operation);
    case 'remember':
      return rememberKey(tables, operation);
    case 'put-push-config':
      return putPushConfig(tables, operation);
    case 'delete-push-config':
      return deletePushConfig(tables, operation);
    case 'sweep':
      return sweep(tables, operation);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
