import type { DatabaseSync } from 'node:sqlite';
import { Counters } from './counters.js';
import { Statements } from './statements.js';
import { TaskHeads } from './task-heads.js';

/** Limits of the logs. */
export interface LogLimits {
  /** Of all finished tasks together; beyond it the oldest go before their time. */
  readonly eventLogBytes: number;
  /** Of one task that goes on; beyond it the older half goes. */
  readonly logBytes: number;
}

/** The tables as the one writer sees them: statements, the heads of tasks, and counters. */
export class WriteTables {
  readonly sql: Statements;
  readonly heads: TaskHeads;
  readonly counters: Counters;
  readonly limits: LogLimits;

  constructor(
    db: DatabaseSync,
    options: { readonly limits: LogLimits; readonly onAside: (row: string, reason: string) => void },
  ) {
    this.sql = new Statements(db, options.onAside);
    this.heads = new TaskHeads(this.sql);
    this.counters = new Counters(this.sql);
    this.limits = options.limits;
  }

  /** Does all of it or nothing. A failure clears the cached parts of the tables. */
  transaction<R>(work: () => R): R {
    const { sql, heads, counters } = this;
    try {
      sql.begin();
      const result = work();
      counters.write();
      sql.commit();
      counters.committed();
      return result;
    } catch (error) {
      counters.rolledBack();
      heads.clear();
      sql.rollback();
      throw error;
    }
  }
}
