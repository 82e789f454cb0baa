import { type SweepTimes, sweepTimes } from '../rules/retention.js';
import type { Retention, Swept } from '../task-storage.js';

/** The tables that a sweep removes from. Each sweep of one removes at most so many rows, and returns their count. */
export interface SweptTables {
  readonly keys: { sweep(now: number, limit: number): number };
  readonly finished: FinishedTasks;
}

/** The tables of finished tasks. Those that ended first go first. */
export interface FinishedTasks {
  /** Corrects what a clock that was ahead has written: no task has ended later than now. */
  setClockBack(now: number): void;
  /** Removes records. The rule is `isLogSwept`. */
  sweepLogs(times: SweepTimes, limit: number): number;
  /** Removes tasks with all that hangs on them. */
  sweepTasks(before: number, limit: number): number;
}

/** Removes what has been kept long enough: keys, then logs, then tasks. All together are at most `limit` rows. */
export function sweep(tables: SweptTables, retention: Retention, now: number): Swept {
  const { limit } = retention;
  const times = sweepTimes(retention, now);
  tables.finished.setClockBack(now);
  const keys = tables.keys.sweep(now, limit);
  const records = tables.finished.sweepLogs(times, limit - keys);
  const tasks = tables.finished.sweepTasks(times.finishedBefore, limit - keys - records);
  return { tasks, records, keys, more: keys + records + tasks >= limit };
}
