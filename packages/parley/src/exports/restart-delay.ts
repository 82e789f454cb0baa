const FIRST_MS = 100;
const LONGEST_MS = 30_000;
/** Minimum lifetime of a worker that counts as a successful start, in ms. */
const STABLE_MS = 60_000;

/**
 * Returns the delay before a process is restarted, from the previous delay. `stableMs`: minimum lifetime that counts as
 * a successful start.
 */
export function nextDelay(lastMs: number, livedMs: number, stableMs = STABLE_MS): number {
  if (livedMs >= stableMs || lastMs === 0) return FIRST_MS;
  return Math.min(LONGEST_MS, lastMs * 2);
}
