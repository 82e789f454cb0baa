import { expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { TurnBudget } from './turn-budget.js';

it('a turn is over after its time, and the next one has all of it', async () => {
  const clock = new ManualClock();
  let now = 0;
  clock.monotonic = () => now;
  const budget = new TurnBudget(clock, 10);
  expect(budget.isOver()).toBe(false);
  now += 9;
  expect(budget.isOver()).toBe(false);
  now += 1;
  expect([budget.isOver(), budget.isOver(), clock.pendingSoon]).toEqual([true, true, 1]);
  await clock.step();
  expect(budget.isOver()).toBe(false);
});
