import { PROBE_NAMES, PROBES, type ProbeName, type ProbeTarget } from '../probes.js';
import type { Probing } from '../run/run-probes.js';
import { SUBJECT_NAMES, SUBJECTS, type SubjectName } from '../subjects.js';
import { median } from './summary.js';
import { markdown } from './table.js';

/** One row: medians over the rounds. */
export interface ProbeRow {
  readonly probe: ProbeName;
  readonly subject: SubjectName;
  readonly value: number;
  /** Of the round in the middle. */
  readonly detail: string;
  readonly target?: { readonly wanted: string; readonly measured: number; readonly reached: boolean };
  readonly faults: readonly string[];
}

const HEADS = ['probe', 'server', 'survives', 'measured', 'from', 'target'];

/** The rows of the probes of a run. */
export function summarizeProbes(rounds: readonly (readonly Probing[])[]): readonly ProbeRow[] {
  return PROBE_NAMES.flatMap((probe) =>
    SUBJECT_NAMES.flatMap((subject) => {
      const cells = cellsOf(rounds, probe, subject);
      if (cells.length === 0) return [];
      const sorted = cells.toSorted((a, b) => a.value - b.value);
      const value = median(sorted.map((cell) => cell.value)) ?? Number.NaN;
      const detail = sorted[Math.floor((sorted.length - 1) / 2)]?.detail ?? '';
      const faults = cells.flatMap(({ fault }) => fault ?? []);
      const target = PROBES[probe].targets[subject];
      const verdict = target && verdictOf(target, { value, other: otherValue(rounds, probe, target) });
      return [{ probe, subject, value, detail, faults, ...(verdict && { target: verdict }) }];
    }),
  );
}

function otherValue(
  rounds: readonly (readonly Probing[])[],
  probe: ProbeName,
  { against }: ProbeTarget,
): number | undefined {
  return against === undefined ? 1 : median(cellsOf(rounds, probe, against).map(({ value }) => value));
}

function verdictOf(
  { atMost, atLeast, against }: ProbeTarget,
  { value, other }: { value: number; other: number | undefined },
): ProbeRow['target'] {
  if (other === undefined) return undefined;
  const measured = value / other;
  const bound = atMost ?? atLeast ?? 0;
  const of = against === undefined ? '' : ` × ${against}`;
  return {
    wanted: `${atMost === undefined ? '≥' : '≤'} ${bound}${of}`,
    measured,
    reached: atMost === undefined ? measured >= bound : measured <= bound,
  };
}

function cellsOf(rounds: readonly (readonly Probing[])[], probe: ProbeName, subject: SubjectName): Probing[] {
  return rounds.flat().filter((cell) => cell.probe === probe && cell.subject === subject);
}

/** The rows as a Markdown table. */
export function probeTable(rows: readonly ProbeRow[]): string {
  return markdown([HEADS, ...rows.map((row, index) => cells(row, rows[index - 1]))]);
}

function cells({ probe, subject, value, detail, target, faults }: ProbeRow, above: ProbeRow | undefined): string[] {
  const { title, durability } = SUBJECTS[subject];
  return [
    above?.probe === probe ? '' : probe,
    title,
    durability,
    `${written(value)} ${PROBES[probe].unit}`,
    detail,
    faults.length > 0 ? `${faults.length} FAULTS` : told(target),
  ];
}

function told(target: ProbeRow['target']): string {
  if (target === undefined) return '';
  return `${target.reached ? '✔' : '✘'} ${written(target.measured)} (${target.wanted})`;
}

function written(value: number): string {
  if (value >= 10_000) return `${Math.round(value / 1000)} k`;
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
