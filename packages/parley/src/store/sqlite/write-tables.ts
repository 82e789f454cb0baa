import type { DatabaseSync } from 'node:sqlite';
import { OwnerBlocks } from '../owner-blocks.js';
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
  readonly blocks = new OwnerBlocks();

  constructor(
    db: DatabaseSync,
    options: { readonly limits: LogLimits; readonly onAside: (row: string, reason: string) => void },
  ) {
    this.sql = new Statements(db, options.onAside);
    this.heads = new TaskHeads(this.sql);
    this.counters = new Counters(this.sql);
    this.limits = options.limits;
  }

  /** Writes the file anew without what deleted rows have left in its pages, and empties its log. */
  scrub(): void {
    // The copy may be larger than the memory.
    this.sql.run('PRAGMA temp_store = DEFAULT');
    try {
      this.sql.run('VACUUM');
      const { busy } = this.sql.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)') ?? {};
      if (busy !== 0) throw new Error('the file is read at the same time: repeat the call');
    } finally {
      this.sql.run('PRAGMA temp_store = MEMORY');
    }
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
