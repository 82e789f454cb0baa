import { isLogSwept, olderHalf } from '../rules/decide-retention.js';
import { type SweepTimes, sweepTimes } from '../rules/retention.js';
import type { Retention, Swept } from '../task-storage.js';

/** The tables that a sweep deletes from. Each `sweep…` deletes at most `limit` rows, and returns their number. */
export interface SweptTables {
  readonly keys: { sweep(now: number, limit: number): number };
  readonly finished: FinishedTasks;
}

/** The log of a finished task. */
export interface FinishedLog {
  readonly endedAt: number;
  /** True if the task has a pending delivery. */
  readonly isPending: boolean;
  /** Deletes the oldest records, at most `limit`. Returns their number. */
  drop(limit: number): number;
}

/** The tables of finished tasks, in the order of their end. */
export interface FinishedTasks {
  /** Corrects end times that are in the future, after a clock was ahead. */
  setClockBack(now: number): void;
  /** The logs with records of tasks that ended before a time. The engine deletes the records of one log at a time. */
  logs(endedBefore: number): Iterable<FinishedLog>;
  /** Deletes tasks with everything that belongs to them. */
  sweepTasks(before: number, limit: number): number;
}

/** Deletes rows past their retention: keys, then logs, then tasks. At most `limit` rows in total. */
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

/** The log of an open task. */
export interface RunningLog {
  /** Sequence number of the last record. */
  readonly last: number;
  readonly bytes: number;
  /** The records, oldest first. A row may contain several: `seq` is the last one. */
  records(): Iterable<{ readonly seq: number; readonly bytes: number }>;
  /** Deletes the records before `floor`. `bytes`: their size. */
  cut(floor: number, bytes: number): void;
}

/** Deletes the older half of a log that exceeds `maxBytes`. Its task has a snapshot after the last record. */
export function trimLog(log: RunningLog, maxBytes: number): void {
  if (log.bytes <= maxBytes) return;
  const { floor, bytes } = olderHalf(log.records(), log);
  if (floor > 0) log.cut(floor, bytes);
}
