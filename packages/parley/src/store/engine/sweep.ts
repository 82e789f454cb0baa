import { isLogSwept, olderHalf } from '../rules/decide-retention.js';
import { type SweepTimes, sweepTimes } from '../rules/retention.js';
import type { Retention, Swept } from '../task-storage.js';

/** The tables that a sweep removes from. Each sweep of one removes at most so many rows, and returns their count. */
export interface SweptTables {
  readonly keys: { sweep(now: number, limit: number): number };
  readonly finished: FinishedTasks;
}

/** The log of a finished task. */
export interface FinishedLog {
  readonly endedAt: number;
  /** True if a delivery of its task is pending. */
  readonly isPending: boolean;
  /** Removes the oldest records, at most so many. Returns their count. */
  drop(limit: number): number;
}

/** The tables of finished tasks. Those that ended first go first. */
export interface FinishedTasks {
  /** Corrects what a clock that was ahead has written: no task has ended later than now. */
  setClockBack(now: number): void;
  /** The logs of tasks that ended before a time, if they have records. The engine drops records of one at a time. */
  logs(endedBefore: number): Iterable<FinishedLog>;
  /** Removes tasks with all that hangs on them. */
  sweepTasks(before: number, limit: number): number;
}

/** Removes what has been kept long enough: keys, then logs, then tasks. All together are at most `limit` rows. */
export function sweep(tables: SweptTables, retention: Retention, now: number): Swept {
  const { limit } = retention;
  const times = sweepTimes(retention, now);
  tables.finished.setClockBack(now);
  const keys = tables.keys.sweep(now, limit);
  const records = sweepLogs(tables.finished, times, limit - keys);
  const tasks = tables.finished.sweepTasks(times.finishedBefore, limit - keys - records);
  return { tasks, records, keys, more: keys + records + tasks >= limit };
}

function sweepLogs(finished: FinishedTasks, times: SweepTimes, limit: number): number {
  let records = 0;
  for (const log of finished.logs(times.logsBefore)) {
    if (records >= limit) break;
    if (isLogSwept(log, times)) records += log.drop(limit - records);
  }
  return records;
}

/** The log of a task that goes on. */
export interface RunningLog {
  /** Sequence number of the last record. */
  readonly last: number;
  readonly bytes: number;
  /** The records, oldest first. A row may stand for several: `seq` is the last one. */
  records(): Iterable<{ readonly seq: number; readonly bytes: number }>;
  /** Removes the records before `floor`. They have so many bytes. */
  cut(floor: number, bytes: number): void;
}

/** Removes the older half of a log that has more than so many bytes. Its task has a snapshot of the last record. */
export function trimLog(log: RunningLog, maxBytes: number): void {
  if (log.bytes <= maxBytes) return;
  const { floor, bytes } = olderHalf(log.records(), log);
  if (floor > 0) log.cut(floor, bytes);
}
