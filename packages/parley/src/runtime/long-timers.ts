import type { Clock } from './clock.js';

/** Longer timers of JavaScript hosts overflow and fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** A timer longer than `LONGEST_TIMER_MS`, made of timers up to that length. */
export function longTimer(after: Clock['after'], ms: number, task: () => void): () => void {
  let cancel = () => {};
  const wait = (left: number): void => {
    cancel = left > LONGEST_TIMER_MS ? after(LONGEST_TIMER_MS, () => wait(left - LONGEST_TIMER_MS)) : after(left, task);
  };
  wait(ms);
  return () => cancel();
}
