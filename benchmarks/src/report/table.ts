import { SUBJECTS, type Target } from '../subjects.js';
import { WORKLOADS } from '../workloads.js';
import type { Row, Verdict } from './summary.js';

const HEADS = [
  'workload',
  'server',
  'survives',
  'rate',
  'rounds',
  'CPU/answer',
  'busy',
  'p50 / p99',
  '× p99',
  '× ceiling',
  '× JS',
  '× Go',
  '× Python',
  '× Rust',
  'target',
] as const;

/** The rows as a Markdown table that reads well as plain text too. */
export function table(rows: readonly Row[]): string {
  return markdown([[...HEADS], ...rows.map((row, index) => cellsOf(row, rows[index - 1]))]);
}

/** Lines of cells, the heads first, as a Markdown table with columns in line. */
export function markdown(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const written = lines.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [written[0], rule, ...written.slice(1)].join('\n');
}

function cellsOf(row: Row, above: Row | undefined): string[] {
  const { unit } = WORKLOADS[row.workload];
  const { title, durability } = SUBJECTS[row.subject];
  return [
    above?.workload === row.workload ? '' : row.workload,
    title,
    durability,
    `${thousands(row.rate)} ${unit}`,
    `${thousands(row.range[0])}–${thousands(row.range[1])}`,
    `${row.cpuMicros.toFixed(row.cpuMicros < 100 ? 1 : 0)} µs`,
    `${(row.busy * 100).toFixed(0)} %`,
    `${row.p50.toFixed(1)} / ${row.p99.toFixed(1)} ms`,
    row.subject === 'ceiling' ? '' : ratio(row.p99Ratio),
    ratio(row.ratios.ceiling),
    ratio(row.ratios.peer),
    ratio(row.ratios.go),
    ratio(row.ratios.python),
    ratio(row.ratios.rust),
    row.faults > 0 ? `${row.faults} FAULTS` : row.targets.map(told).join(', '),
  ];
}

function told({ against, ratio: wanted, measured, reached }: Verdict): string {
  const sign = reached ? '✔' : '✘';
  const name = PEER_NAMES[against];
  return name !== undefined
    ? `${sign} ${measured.toFixed(1)} × ${name} (≥ ${wanted})`
    : `${sign} ${percent(measured)} (≥ ${percent(wanted)}${against === 'ceiling' ? '' : ` of ${against}`})`;
}

const PEER_NAMES: { readonly [Name in Target['against']]?: string } = {
  peer: 'JS',
  go: 'Go',
  python: 'Python',
  rust: 'Rust',
};

function percent(value: number): string {
  return `${(value * 100).toFixed(0)} %`;
}

function ratio(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(2);
}

function thousands(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} k` : `${Math.round(value)}`;
}
