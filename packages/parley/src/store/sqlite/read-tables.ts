import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { unreadableReason } from '../../errors/unreadable-task-error.js';
import { isDamage } from './file-fault.js';

/** The columns of a row in the order of its statement. Their names must differ. */
export type Columns = readonly SQLOutputValue[];

/** Number of pages after which rows are checked again. It bounds the remembered rows as well. */
const PAGES_PER_CHECK = 100;

/**
 * The rows of finished tasks that lists have checked for valid JSON. Such a row does not change, so that the next pages
 * do not check it again. The file can be damaged meanwhile, so every row is checked again after some pages.
 */
class CheckedRows {
  readonly #rows = new Map<string, Set<number>>();
  #pages = 0;

  /** Returns the row ids that pages with the same members have checked. The page adds those that it checks. */
  forPage(members: string): Set<number> {
    this.#pages += 1;
    if (this.#pages % PAGES_PER_CHECK === 0) this.#rows.clear();
    const rows = this.#rows.get(members) ?? new Set();
    this.#rows.set(members, rows);
    return rows;
  }
}

/** A read connection and its prepared statements. */
export class ReadTables {
  readonly checked = new CheckedRows();
  readonly #db: DatabaseSync;
  readonly #onAside: (row: string, reason: string) => void;
  readonly #statements = new Map<string, StatementSync>();
  readonly #rowStatements = new Map<string, StatementSync>();

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

  /** Returns the first row as an array, which costs half as much as an object. */
  row<R extends Columns>(sql: string, ...values: SQLInputValue[]): R | undefined {
    const row: unknown = this.#rowStatement(sql).get(...values);
    return row === undefined ? undefined : columnsOf<R>(row);
  }

  /** Returns all rows, each as an array. */
  rows<R extends Columns>(sql: string, ...values: SQLInputValue[]): readonly R[] {
    const rows: readonly unknown[] = this.#rowStatement(sql).all(...values);
    return Array.isArray(rows[0]) ? (rows as readonly R[]) : rows.map((row) => columnsOf<R>(row));
  }

  /** Reads rows lazily. */
  each<R>(sql: string, ...values: SQLInputValue[]): IterableIterator<R> {
    return this.#statement(sql).iterate(...values) as IterableIterator<R>;
  }

  /** Reads one row. Reports a damaged row under this name and returns `undefined`. */
  apart<R>(row: string, read: () => R): R | undefined {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#onAside(row, unreadableReason(error));
      return undefined;
    }
  }

  /** Runs several reads in one snapshot of the file. */
  together<R>(read: () => R): R {
    this.#statement('BEGIN').run();
    try {
      return read();
    } finally {
      // A failed read may have ended the transaction. COMMIT repeats the error of a damaged row, ROLLBACK does not.
      if (this.#db.isTransaction) this.#statement('ROLLBACK').run();
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

  #rowStatement(sql: string): StatementSync {
    let statement = this.#rowStatements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      // Node.js 22 cannot return rows as arrays.
      if ('setReturnArrays' in statement) statement.setReturnArrays(true);
      this.#rowStatements.set(sql, statement);
    }
    return statement;
  }
}

function columnsOf<R extends Columns>(row: unknown): R {
  return (Array.isArray(row) ? row : Object.values(row as object)) as unknown as R;
}
