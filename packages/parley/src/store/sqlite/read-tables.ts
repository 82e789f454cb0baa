import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { isDamage } from './file-fault.js';

/** A reading connection with its statements. */
export class ReadTables {
  readonly #db: DatabaseSync;
  readonly #onAside: (row: string, reason: string) => void;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, onAside: (row: string, reason: string) => void) {
    this.#db = db;
    this.#onAside = onAside;
  }

  get<R>(sql: string, ...values: SQLInputValue[]): R | undefined {
    return this.#statement(sql).get(...values) as R | undefined;
  }

  all<R>(sql: string, ...values: SQLInputValue[]): R[] {
    return this.#statement(sql).all(...values) as R[];
  }

  /** Rows one by one, as far as they are asked for. */
  each<R>(sql: string, ...values: SQLInputValue[]): IterableIterator<R> {
    return this.#statement(sql).iterate(...values) as IterableIterator<R>;
  }

  /** Reads one row of several. A damaged row is told by its name and left out: `undefined`. */
  apart<R>(row: string, read: () => R): R | undefined {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#onAside(row, String(error));
      return undefined;
    }
  }

  /** Several reads of one and the same state. */
  together<R>(read: () => R): R {
    this.#statement('BEGIN').run();
    try {
      return read();
    } finally {
      // A read that failed may have ended the transaction.
      if (this.#db.isTransaction) this.#statement('COMMIT').run();
    }
  }

  close(): void {
    this.#db.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
