import { expect, it } from 'vitest';
import { measureTracing } from '../../benchmarks/src/tracing/tracing-cost.js';

// Far above the figures of docs/performance.md: other programs share the machine, and the rounds are few. A step of
// traces that costs as much as a call itself does not pass. The third figure is a small difference, divided by a small
// one. So only the long form, whose machine is its own, judges it.
it('traces cost less than a call, and an SDK that is missing nearly nothing', async () => {
  const { ratios, none, bare } = await measureTracing({ rounds: 15, callsPerRound: 40 });
  expect(none).toBeGreaterThan(bare);
  expect(ratios.off).toBeLessThan(1.5);
  expect(ratios.dropped).toBeLessThan(2);
  if (process.env.TEST_LONG) expect(ratios.recorded).toBeLessThan(8);
}, 120_000);
