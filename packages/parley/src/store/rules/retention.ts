import type { Retention } from '../task-storage.js';

/**
 * The times of a sweep, by the storage's clock. It deletes tasks that ended before `finishedBefore`, and logs of tasks
 * that ended before `logsBefore`.
 */
export interface SweepTimes {
  readonly now: number;
  readonly finishedBefore: number;
  readonly logsBefore: number;
}

/** Returns the retention of the log of a finished task, in ms. A log is never kept longer than its task. */
export function logRetentionMs({ taskRetentionMs, eventLogMs }: Omit<Retention, 'limit'>): number {
  return Math.min(taskRetentionMs, eventLogMs);
}

/** Returns the times of a sweep that starts now. */
export function sweepTimes(retention: Omit<Retention, 'limit'>, now: number): SweepTimes {
  return { now, finishedBefore: now - retention.taskRetentionMs, logsBefore: now - logRetentionMs(retention) };
}
