import { expect, it } from 'vitest';
import { nextDelay } from './restart-delay.js';

it('grows while workers end soon, has a limit, and begins again after a worker that lived', () => {
  const delays: number[] = [];
  let last = 0;
  for (let death = 0; death < 11; death++) {
    last = nextDelay(last, 50);
    delays.push(last);
  }
  expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  expect(nextDelay(30_000, 60_000)).toBe(100);
});
