const FIRST_MS = 100;
const LONGEST_MS = 30_000;
/** Minimum life of a worker that has started well, in ms. */
const STABLE_MS = 60_000;

/**
 * Returns the delay before a process is restarted, from the previous delay. `stableMs`: minimum life of a process that
 * has started well.
 */
export function nextDelay(lastMs: number, livedMs: number, stableMs = STABLE_MS): number {
  if (livedMs >= stableMs || lastMs === 0) return FIRST_MS;
  return Math.min(LONGEST_MS, lastMs * 2);
}
