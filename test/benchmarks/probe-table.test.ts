import { describe, expect, it } from 'vitest';
import { probeTable, summarizeProbes } from '../../benchmarks/src/report/probe-table.js';
import type { Probing } from '../../benchmarks/src/run/run-probes.js';

const probingOf = (probe: Probing['probe'], subject: Probing['subject'], value: number): Probing => ({
  probe,
  subject,
  value,
  detail: `from ${value}`,
});

describe('the table of probes', () => {
  it('has medians over the rounds, and the detail of the round in the middle', () => {
    const [row] = summarizeProbes([
      [probingOf('heap', 'memory', 3000)],
      [probingOf('heap', 'memory', 1000)],
      [probingOf('heap', 'memory', 1500)],
    ]);
    expect(row).toMatchObject({ value: 1500, detail: 'from 1500', target: { reached: true, wanted: '≤ 2048' } });
  });

  it('says when a bound is missed', () => {
    const [row] = summarizeProbes([[probingOf('heap', 'memory', 2049)]]);
    expect(row?.target?.reached).toBe(false);
    expect(probeTable(row ? [row] : [])).toContain('✘ 2049 (≤ 2048)');
  });

  it('compares with another server where the target does', () => {
    const rows = summarizeProbes([[probingOf('fan-out', 'ceiling', 100), probingOf('fan-out', 'memory', 59)]]);
    expect(rows[1]?.target).toEqual({ wanted: '≥ 0.6 × ceiling', measured: 0.59, reached: false });
    expect(summarizeProbes([[probingOf('fan-out', 'memory', 59)]])[0]?.target).toBeUndefined();
  });

  it('shows a probe that failed', () => {
    const rows = summarizeProbes([[{ ...probingOf('chunks', 'memory', Number.NaN), fault: 'it broke' }]]);
    expect(rows[0]).toMatchObject({ faults: ['it broke'], target: { reached: false } });
    expect(probeTable(rows)).toContain('1 FAULTS');
  });
});
