import { expect, it } from 'vitest';
import { bodyRatios } from '../../benchmarks/src/probes/body-cost.js';

const MOST = 4;
/** Pairs of each shape, an odd number. */
const PAIRS = process.env.TEST_LONG === undefined ? 7 : 15;

it('a body costs at most four times as much as JSON.parse, whatever its shape', { timeout: 120_000 }, async () => {
  const ratios = await bodyRatios(PAIRS);
  expect(Object.keys(ratios)).toHaveLength(5);
  expect(Object.entries(ratios).filter(([, ratio]) => !(ratio <= MOST))).toEqual([]);
});
