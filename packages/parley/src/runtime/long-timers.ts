import type { Clock } from './clock.js';

/** Timers of JavaScript hosts overflow beyond this, and fire at once. */
const LONGEST_MS = 2_147_483_647;

/** Timers of any length, made of such that take 24.8 days at most. */
export function longTimers(after: Clock['after']): Clock['after'] {
  return (ms, task) => {
    // Also for NaN, which the host takes for 1.
    if (!(ms > LONGEST_MS)) return after(ms, task);
    let cancel = () => {};
    const wait = (left: number): void => {
      cancel = left > LONGEST_MS ? after(LONGEST_MS, () => wait(left - LONGEST_MS)) : after(left, task);
    };
    wait(ms);
    return () => cancel();
  };
}
