import type { SweepTimes } from './retention.js';

/** True if the log of a finished task may be deleted. A pending delivery keeps it until the task is deleted. */
export function isLogSwept(
  { endedAt, isPending }: { readonly endedAt: number; readonly isPending: boolean },
  { finishedBefore, logsBefore }: SweepTimes,
): boolean {
  return endedAt < finishedBefore || (endedAt < logsBefore && !isPending);
}

/**
 * Returns the records to delete from the log of an open task that exceeds its limit: the older half, but never the last
 * record.
 * `records` come oldest first. A row may contain several: `seq` is the last one.
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
