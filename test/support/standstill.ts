import { setTimeout as pause } from 'node:timers/promises';

const BEAT_MS = 20;

/** Waits. Resolves to the longest time in ms for which this process stood still meanwhile, as its machine may do. */
export async function waitWatched(ms: number): Promise<number> {
  const endsAt = performance.now() + ms;
  let longest = 0;
  for (let last = performance.now(); last < endsAt; ) {
    await pause(BEAT_MS);
    const now = performance.now();
    longest = Math.max(longest, now - last - BEAT_MS);
    last = now;
  }
  return longest;
}
