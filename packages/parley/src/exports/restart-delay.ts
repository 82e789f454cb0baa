const FIRST_MS = 100;
const LONGEST_MS = 30_000;
/** A worker that lived so long has started well. */
const STABLE_MS = 60_000;

/** Returns the pause before a process is replaced, after the pause before it. `stableMs`: it has started well then. */
export function nextDelay(lastMs: number, livedMs: number, stableMs = STABLE_MS): number {
  if (livedMs >= stableMs || lastMs === 0) return FIRST_MS;
  return Math.min(LONGEST_MS, lastMs * 2);
}
