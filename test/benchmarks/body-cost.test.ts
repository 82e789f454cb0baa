import { expect, it } from 'vitest';
import { bodyRatios } from '../../benchmarks/src/probes/body-cost.js';

const MOST = 4;
/** Members and elements of a body. A third of the most has the same ratios in a third of the time. */
const ITEMS = process.env.TEST_LONG === undefined ? 30_000 : 90_000;

it('a body costs at most four times as much as JSON.parse, whatever its shape', { timeout: 120_000 }, async () => {
  const ratios = await bodyRatios(ITEMS);
  expect(Object.keys(ratios)).toHaveLength(5);
  expect(Object.entries(ratios).filter(([, ratio]) => !(ratio <= MOST))).toEqual([]);
});
