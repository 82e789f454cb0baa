const FIRST_MS = 100;
const LONGEST_MS = 30_000;
/** A worker that lived so long has started well. */
const STABLE_MS = 60_000;

/** Returns the pause before a worker is replaced, after the pause before it. */
export function nextDelay(lastMs: number, livedMs: number): number {
  if (livedMs >= STABLE_MS || lastMs === 0) return FIRST_MS;
  return Math.min(LONGEST_MS, lastMs * 2);
}
