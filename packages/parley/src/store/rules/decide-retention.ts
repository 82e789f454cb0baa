import type { SweepTimes } from './retention.js';

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
