import { expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { LONGEST_TIMER_MS, longTimer } from './long-timers.js';

const DAY_MS = 86_400_000;

/** Timers as Node.js has them: what is longer than 31 bits fires at once. */
function hostTimers() {
  const clock = new ManualClock();
  const set: number[] = [];
  const after = (ms: number, task: () => void): (() => void) => {
    if (ms > LONGEST_TIMER_MS) return longTimer(after, ms, task);
    set.push(ms);
    return clock.after(ms > 2_147_483_647 ? 1 : ms, task);
  };
  return { clock, after, set };
}

it.each([1, 25, 60, 400])('a timer of %s days fires once, at its time', async (days) => {
  const { clock, after, set } = hostTimers();
  let fired = 0;
  after(days * DAY_MS, () => {
    fired += 1;
  });
  await clock.advance(days * DAY_MS - 1);
  expect(fired).toBe(0);
  await clock.advance(1);
  expect(fired).toBe(1);
  await clock.advance(days * DAY_MS);
  expect(fired).toBe(1);
  expect(set.length).toBeLessThan(days / 24 + 2);
});

it('a long timer is canceled in each of its parts', async () => {
  const { clock, after } = hostTimers();
  let fired = 0;
  const cancel = after(60 * DAY_MS, () => {
    fired += 1;
  });
  await clock.advance(30 * DAY_MS);
  cancel();
  await clock.advance(60 * DAY_MS);
  expect([fired, clock.pendingTimers]).toEqual([0, 0]);
});

it('a timer without end never fires', async () => {
  const { clock, after } = hostTimers();
  let fired = 0;
  after(Number.POSITIVE_INFINITY, () => {
    fired += 1;
  });
  await clock.advance(1_000 * DAY_MS);
  expect(fired).toBe(0);
});
