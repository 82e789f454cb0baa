import type { Measurement } from '../run/measure.js';
import { SUBJECT_NAMES, SUBJECTS, type SubjectName, type Target } from '../subjects.js';
import { WORKLOAD_NAMES, type WorkloadName } from '../workloads.js';

/** A target and what was measured. */
export interface Verdict extends Target {
  readonly measured: number;
  readonly reached: boolean;
}

/** One row of the table: medians over the rounds. */
export interface Row {
  readonly workload: WorkloadName;
  readonly subject: SubjectName;
  readonly rate: number;
  /** Lowest and highest rate of a round. */
  readonly range: readonly [number, number];
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  /** Part of one core that the subject used. */
  readonly busy: number;
  /** Rate as a ratio to that of another subject: the median of the ratios within each round. */
  readonly ratios: { readonly [Name in SubjectName]?: number };
  readonly targets: readonly Verdict[];
  readonly faults: number;
  readonly examples: readonly string[];
}

/** The rows of a run. */
export function summarize(rounds: readonly (readonly Measurement[])[]): readonly Row[] {
  return WORKLOAD_NAMES.flatMap((workload) =>
    SUBJECT_NAMES.flatMap((subject) => {
      const cells = cellsOf(rounds, workload, subject);
      return cells.length === 0 ? [] : [rowOf({ rounds, workload, subject, cells })];
    }),
  );
}

interface RowParts {
  readonly rounds: readonly (readonly Measurement[])[];
  readonly workload: WorkloadName;
  readonly subject: SubjectName;
  readonly cells: readonly Measurement[];
}

function rowOf({ rounds, workload, subject, cells }: RowParts): Row {
  const rates = cells.map(({ rate }) => rate);
  const ratios: { [Name in SubjectName]?: number } = {};
  for (const against of ['ceiling', 'peer'] as const) {
    const ratio = median(ratiosOf(rounds, workload, { subject, against }));
    if (ratio !== undefined && subject !== against) ratios[against] = ratio;
  }
  return {
    workload,
    subject,
    rate: median(rates) ?? 0,
    range: [Math.min(...rates), Math.max(...rates)],
    cpuMicros: median(cells.map((cell) => cell.cpuMicros)) ?? 0,
    p50: median(cells.map(({ latency }) => latency.p50)) ?? 0,
    p99: median(cells.map(({ latency }) => latency.p99)) ?? 0,
    busy: median(cells.map((cell) => cell.busy)) ?? 0,
    ratios,
    targets: (SUBJECTS[subject].targets[workload] ?? []).flatMap((target) => verdict(target, ratios)),
    faults: cells.reduce((sum, { faults }) => sum + faults, 0),
    examples: cells.flatMap(({ examples }) => examples),
  };
}

function verdict(target: Target, ratios: Row['ratios']): Verdict[] {
  const measured = ratios[target.against];
  return measured === undefined ? [] : [{ ...target, measured, reached: measured >= target.ratio }];
}

function ratiosOf(
  rounds: RowParts['rounds'],
  workload: WorkloadName,
  { subject, against }: { subject: SubjectName; against: SubjectName },
): number[] {
  return rounds.flatMap((cells) => {
    const [own] = cellsOf([cells], workload, subject);
    const [other] = cellsOf([cells], workload, against);
    return own && other && other.rate > 0 ? [own.rate / other.rate] : [];
  });
}

function cellsOf(rounds: RowParts['rounds'], workload: WorkloadName, subject: SubjectName): Measurement[] {
  return rounds.flat().filter((cell) => cell.workload === workload && cell.subject === subject);
}

/** The middle value; between the two in the middle where there are two. */
export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
