/** Timers of Node.js overflow beyond this, and fire at once. */
const LONGEST_MS = 2_147_483_647;

/** A signal that aborts with a `TimeoutError` after a time, 24.8 days at most. */
export function timeLimit(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, LONGEST_MS));
}
