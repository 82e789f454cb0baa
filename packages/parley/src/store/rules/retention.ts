import type { Retention } from '../task-storage.js';

/** The times of a sweep, by the storage's clock. Tasks and logs that ended before them go. */
export interface SweepTimes {
  readonly now: number;
  readonly finishedBefore: number;
  readonly logsBefore: number;
}

/** The age at which the log of a finished task goes. A log does not outlive its task. */
export function logRetentionMs({ taskRetentionMs, eventLogMs }: Omit<Retention, 'limit'>): number {
  return Math.min(taskRetentionMs, eventLogMs);
}

/** The times of a sweep that begins now. */
export function sweepTimes(retention: Omit<Retention, 'limit'>, now: number): SweepTimes {
  return { now, finishedBefore: now - retention.taskRetentionMs, logsBefore: now - logRetentionMs(retention) };
}
