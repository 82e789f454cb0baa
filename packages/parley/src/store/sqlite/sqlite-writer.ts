import { accept, create } from './accept-task.js';
import { append } from './append-records.js';
import { check } from './check-writing.js';
import { begin, claim, leaveAside, release, renew, requestCancel, saveCheckpoint } from './claim-turns.js';
import { DamagedRowError } from './damaged-row-error.js';
import { fileFault, isLocked } from './file-fault.js';
import type { Operation, Settled } from './operations.js';
import { deletePushConfig, putPushConfig } from './push-configs.js';
import { rememberKey } from './remembered-keys.js';
import { deleteTask, sweep } from './remove-tasks.js';
import { resultOf } from './result-of.js';
import type { WriteTables } from './write-tables.js';

const FIRST_TURNS = 'SELECT task, min(turn) AS turn FROM execution GROUP BY task';

/** What a writer works on, and who hears of its health. */
export interface SqliteWriterOptions {
  readonly path: string;
  readonly tables: WriteTables;
  /** Hears why nothing can be written, and `undefined` when something was written after that. */
  readonly onHealth: (fault: string | undefined) => void;
}

/** Does batches of operations, each batch as one transaction. */
export class SqliteWriter {
  readonly #path: string;
  readonly #tables: WriteTables;
  readonly #onHealth: SqliteWriterOptions['onHealth'];
  #failing = false;

  constructor({ path, tables, onHealth }: SqliteWriterOptions) {
    this.#path = path;
    this.#tables = tables;
    this.#onHealth = onHealth;
  }

  /** All leases are void: whoever held them is gone. Their turns wait to be claimed again. */
  voidLeases(): void {
    const tables = this.#tables;
    this.#transaction(() => {
      for (const { task, turn } of tables.all<{ task: number; turn: number }>(FIRST_TURNS)) {
        tables.apart(task, () => {
          tables.run('UPDATE task SET held = NULL, node = NULL, lease_end = NULL WHERE pk = ?', task);
          tables.run('UPDATE execution SET ready = 1 WHERE task = ? AND turn = ?', task, turn);
        });
      }
    });
  }

  /**
   * The results in the order of the operations. If the batch fails as a whole, each operation is tried on
   * its own, except where another process has locked the file. `again`:
   * another thread was asked the same and may have done it.
   */
  write(batch: readonly Operation[], again: boolean): readonly Settled[] {
    try {
      return this.#commit(batch, again).map((result) => [false, result]);
    } catch (error) {
      if (batch.length === 1) return [this.#failed(error)];
      // A lock is held against the whole batch: each operation alone would wait for it again.
      if (isLocked(error)) return batch.map(() => this.#failed(error));
      return batch.map((operation) => this.#alone(operation, again));
    }
  }

  #alone(operation: Operation, again: boolean): Settled {
    try {
      const [result] = this.#commit([operation], again);
      return [false, result];
    } catch (error) {
      return this.#failed(error);
    }
  }

  #commit(batch: readonly Operation[], again: boolean): unknown[] {
    const tables = this.#tables;
    const results = this.#transaction(() =>
      batch.map((operation) => (again ? resultOf(tables, operation) : undefined) ?? perform(tables, operation)),
    );
    if (this.#failing && tables.wrote) {
      this.#failing = false;
      this.#onHealth(undefined);
    }
    return results;
  }

  /** Does all of it or nothing, without the rows that turn out to be damaged. */
  #transaction<R>(work: () => R): R {
    const tables = this.#tables;
    for (;;) {
      try {
        tables.begin();
        const result = work();
        tables.commit();
        return result;
      } catch (error) {
        tables.rollback();
        if (!(error instanceof DamagedRowError)) throw error;
      }
    }
  }

  #failed(error: unknown): Settled {
    const { text, passing } = fileFault(this.#path, error);
    if (passing && !this.#failing) {
      this.#failing = true;
      this.#onHealth(text);
    }
    return [true, text, passing];
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
    case 'begin':
      return begin(tables, operation);
    case 'release':
      return release(tables, operation);
    case 'leave-aside':
      return leaveAside(tables, operation);
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
    case 'check':
      return check(tables, operation);
    case 'sweep':
      return sweep(tables, operation);
  }
}
