import { expect, it } from 'vitest';
import { PushTally } from './push-tally.js';

/** The oldest wait in ms. */
const oldest = (tally: PushTally, now: number) => tally.figures(0, now).oldestWaitMs;

it('tells the time since the first failure of the queue that has failed for longest', () => {
  const tally = new PushTally(60_000);
  tally.waits('a', { now: 1_000, inMs: 5_000 });
  tally.waits('b', { now: 2_000, inMs: 5_000 });
  tally.waits('a', { now: 6_000, inMs: 60_000 });
  expect(oldest(tally, 7_000)).toBe(6_000);
  tally.goesOn('a');
  expect(oldest(tally, 7_000)).toBe(5_000);
});

it('forgets a queue whose next attempt does not come: it was deleted, or another process has it', () => {
  const tally = new PushTally(60_000);
  tally.waits('deleted', { now: 0, inMs: 1_000 });
  tally.waits('later', { now: 500, inMs: 3_600_000 });
  tally.waits('deleted too', { now: 600, inMs: 1_000 });
  tally.waits('new', { now: 50_000, inMs: 10_000 });
  expect(oldest(tally, 60_000)).toBe(60_000);
  expect(oldest(tally, 62_000)).toBe(61_500);
  tally.goesOn('later');
  expect(oldest(tally, 62_000)).toBe(12_000);
  expect(oldest(tally, 200_000)).toBe(0);
});

it('keeps no queue for ever, also if nobody reads the figures', () => {
  const tally = new PushTally(60_000);
  for (let at = 0; at < 100_000; at++) tally.waits(`queue ${at}`, { now: at * 1_000, inMs: 1_000 });
  expect(tally.waiting).toBeLessThan(1_000);
});
