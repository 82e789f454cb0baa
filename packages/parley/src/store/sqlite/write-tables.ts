import type { DatabaseSync } from 'node:sqlite';
import { OwnerBlocks } from '../owner-blocks.js';
import { Counters } from './counters.js';
import { Statements } from './statements.js';
import { TaskHeads } from './task-heads.js';

/** Limits of the logs. */
export interface LogLimits {
  /** Of all finished tasks together; above it, the oldest logs are deleted. */
  readonly eventLogBytes: number;
  /** Of one open task; above it, the older half is deleted. */
  readonly logBytes: number;
}

/** The tables of the writer: statements, cached heads of tasks, and counters. */
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

  /** Rewrites the file without the bytes of deleted rows, and empties its log. */
  scrub(): void {
    // The temporary copy may be larger than the memory.
    this.sql.run('PRAGMA temp_store = DEFAULT');
    try {
      this.sql.run('VACUUM');
      const { busy } = this.sql.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)') ?? {};
      if (busy !== 0) throw new Error('the file is read at the same time: repeat the call');
    } finally {
      this.sql.run('PRAGMA temp_store = MEMORY');
    }
  }

  /** Runs the work as one transaction. A failure clears the caches. */
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
