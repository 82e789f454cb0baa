import { setTimeout as pause } from 'node:timers/promises';

const BEAT_MS = 20;
/** The leases and time-outs of these tests take 2 s at least, and outlast this. */
const MOST_MS = 500;
const ATTEMPTS = 3;

/**
 * Runs a part of a test, once more if it fails while the machine stands still: then leases and connections end.
 * The timers of this process show that. `renew` removes what a run has left.
 */
export async function onSteadyMachine<T>(run: () => Promise<T>, renew = async () => {}): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const stop = watchStandstill();
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS || stop() < MOST_MS) throw error;
      await renew();
    } finally {
      stop();
    }
  }
}

/** Returns a function that stops the watch, and returns the longest time in ms for which this process stood still. */
export function watchStandstill(): () => number {
  let isOver = false;
  let longest = 0;
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last - BEAT_MS);
    last = now;
  };
  void (async () => {
    while (!isOver) {
      await pause(BEAT_MS);
      look();
    }
  })();
  return () => {
    isOver = true;
    look();
    return longest;
  };
}
