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

/** True if the log of a finished task may go. A pending delivery keeps it as long as the task stays. */
export function isLogSwept(
  { endedAt, isPending }: { readonly endedAt: number; readonly isPending: boolean },
  { finishedBefore, logsBefore }: SweepTimes,
): boolean {
  return endedAt < finishedBefore || (endedAt < logsBefore && !isPending);
}

/**
 * The cut of a log that is too long, although its task goes on: the older half goes, but never the last record.
 * `records` come oldest first. Each may be a row of several: `seq` is the last one.
 */
export function olderHalf(
  records: Iterable<{ readonly seq: number; readonly bytes: number }>,
  log: { readonly last: number; readonly bytes: number },
): { readonly floor: number; readonly bytes: number } {
  let floor = 0;
  let freed = 0;
  for (const { seq, bytes } of records) {
    if (seq >= log.last || freed >= log.bytes / 2) break;
    freed += bytes;
    floor = seq + 1;
  }
  return { floor, bytes: freed };
}
