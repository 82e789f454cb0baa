import { expect, it } from 'vitest';
import { bodyRatios } from '../../benchmarks/src/probes/body-cost.js';

const MOST = 4;

it('a body costs at most four times as much as JSON.parse, whatever its shape', { timeout: 120_000 }, async () => {
  const ratios = await bodyRatios();
  expect(Object.keys(ratios)).toHaveLength(5);
  expect(Object.entries(ratios).filter(([, ratio]) => !(ratio <= MOST))).toEqual([]);
});
