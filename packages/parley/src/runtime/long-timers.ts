import type { Clock } from './clock.js';

/** Longer timers of JavaScript hosts overflow and fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** Timers of any length, made of timers of at most 24.8 days. */
export function longTimers(after: Clock['after']): Clock['after'] {
  return (ms, task) => {
    // NaN included, which the host reads as 1.
    if (!(ms > LONGEST_TIMER_MS)) return after(ms, task);
    let cancel = () => {};
    const wait = (left: number): void => {
      cancel =
        left > LONGEST_TIMER_MS ? after(LONGEST_TIMER_MS, () => wait(left - LONGEST_TIMER_MS)) : after(left, task);
    };
    wait(ms);
    return () => cancel();
  };
}
