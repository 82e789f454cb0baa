import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** A reading connection with its statements. */
export class ReadTables {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
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
