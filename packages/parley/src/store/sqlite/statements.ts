import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { unreadableReason } from '../../errors/unreadable-task-error.js';
import { DamagedRowError, isDamage } from './file-fault.js';

/** The prepared statements of the writing connection, its transaction, and its unreadable rows. */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  readonly #onAside: (row: string, reason: string) => void;
  /** Unreadable tasks. They are skipped until the file is opened again. */
  readonly #aside = new Set<number | string>();
  /** True if the current or the last transaction has changed anything. */
  wrote = false;

  constructor(db: DatabaseSync, onAside: (row: string, reason: string) => void) {
    this.#db = db;
    this.#onAside = onAside;
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    const changes = Number(this.#statement(sql).run(...values).changes);
    if (changes > 0) this.wrote = true;
    return changes;
  }

  get<R>(sql: string, ...values: SQLInputValue[]): R | undefined {
    return this.#statement(sql).get(...values) as R | undefined;
  }

  all<R>(sql: string, ...values: SQLInputValue[]): R[] {
    return this.#statement(sql).all(...values) as R[];
  }

  /** Reads rows lazily. */
  each<R>(sql: string, ...values: SQLInputValue[]): IterableIterator<R> {
    return this.#statement(sql).iterate(...values) as IterableIterator<R>;
  }

  begin(): void {
    this.wrote = false;
    this.run('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.run('COMMIT');
  }

  rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }

  /**
   * Reads or writes one row. `row`: the number of a task, or a name. Returns `undefined` for a row that is skipped.
   * A damaged row is skipped from now on, and the transaction restarts without it, because SQLite refuses further
   * writes after a damaged page.
   * @throws DamagedRowError
   */
  apart<R>(row: number | string, work: () => R): R | undefined {
    if (this.#aside.has(row)) return undefined;
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.setAside(row, unreadableReason(error));
      throw new DamagedRowError();
    }
  }

  /** Skips a row from now on. */
  setAside(row: number | string, reason: string): void {
    this.#aside.add(row);
    this.#onAside(typeof row === 'string' ? row : (this.#idOf(row) ?? `row ${row}`), reason);
  }

  isAside(row: number | string): boolean {
    return this.#aside.has(row);
  }

  #idOf(pk: number): string | undefined {
    try {
      return this.get<{ id: string }>('SELECT id FROM task WHERE pk = ?', pk)?.id;
    } catch {
      return undefined;
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
