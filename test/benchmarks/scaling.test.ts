import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planTable } from '../../benchmarks/src/scaling/plan.js';
import {
  type Fleet,
  longestTakeoverSeconds,
  meanTakeoverSeconds,
  meanWaitSeconds,
  utilisation,
} from '../../benchmarks/src/scaling/queueing.js';
import { simulate } from '../../benchmarks/src/scaling/simulation.js';

const fleet: Fleet = { replicas: 4, slots: 10, leaseSeconds: 15, beatSeconds: 5 };
const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

describe('the arithmetic of scaling agrees with a simulation of the claim loop', () => {
  it.each([0.5, 0.8, 0.9])('for the wait at a utilisation of %d', (busy) => {
    const turns = { seconds: 2, perSecond: (busy * 40) / 2 };
    const runs = [1, 2, 3].map((seed) => simulate({ fleet, turns, seconds: 6_000, seed }));
    const expected = meanWaitSeconds(fleet, turns);
    const waited = mean(runs.map(({ meanWaitSeconds }) => meanWaitSeconds));
    expect(Math.abs(waited - expected)).toBeLessThan(0.002 + 0.25 * expected);
    expect(Math.abs(mean(runs.map((run) => run.utilisation)) - utilisation(fleet, turns))).toBeLessThan(0.02);
    expect(runs.map(({ stuck }) => stuck)).toEqual([0, 0, 0]);
  });

  it('for takeovers: each within a lease and an interval, and the mean as calculated', () => {
    const turns = { seconds: 30, perSecond: 0.5 };
    const runs = [1, 2, 3].map((seed) => simulate({ fleet, turns, seconds: 20_000, crashEverySeconds: 60, seed }));
    const takeovers = runs.flatMap((run) => run.takeovers);
    expect(takeovers.length).toBeGreaterThan(500);
    expect(Math.max(...takeovers)).toBeLessThanOrEqual(longestTakeoverSeconds(fleet));
    expect(Math.abs(mean(takeovers) - meanTakeoverSeconds(fleet, turns))).toBeLessThan(1);
    expect(runs.map(({ stuck }) => stuck)).toEqual([0, 0, 0]);
  });

  it('for a fleet that is too small: the queue grows without end', () => {
    const turns = { seconds: 2, perSecond: 22 };
    expect(meanWaitSeconds(fleet, turns)).toBe(Number.POSITIVE_INFINITY);
    const short = simulate({ fleet, turns, seconds: 1_000, seed: 1 });
    const long = simulate({ fleet, turns, seconds: 4_000, seed: 1 });
    expect(long.meanWaitSeconds).toBeGreaterThan(3 * short.meanWaitSeconds);
  });
});

it('docs/scaling.md shows the plans that follow from the formulas', () => {
  expect(readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')).toContain(planTable());
});
