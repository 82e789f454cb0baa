import { expect, it } from 'vitest';
import { OneAtATime } from './one-at-a-time.js';

it('starts a job when the one before has left, once for each', () => {
  const queue = new OneAtATime();
  const begun: number[] = [];
  const leaves: (() => void)[] = [];
  for (const job of [1, 2, 3])
    queue.enter((leave) => {
      begun.push(job);
      leaves.push(leave);
    });
  expect(begun).toEqual([1]);
  const [first] = leaves;
  first?.();
  expect(begun).toEqual([1, 2]);
  // A second call is not that of the job that runs now.
  first?.();
  expect(begun).toEqual([1, 2]);
  leaves[1]?.();
  expect(begun).toEqual([1, 2, 3]);
});
