import type { Measurement } from '../run/measure.js';
import { PEERS, SUBJECT_NAMES, SUBJECTS, type SubjectName, type Target } from '../subjects.js';
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
  /** The 99th percentile as a ratio to that of the ceiling: the median of the ratios within each round. */
  readonly p99Ratio: number | undefined;
  /** Part of one core that the subject used. */
  readonly busy: number;
  /** Answers per CPU time as a ratio to those of another subject: the median of the ratios within each round. */
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
  for (const against of ['ceiling', ...PEERS] as const) {
    const ratio = medianRatio(rounds, [
      { workload, subject },
      { workload, subject: against },
    ]);
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
    p99Ratio: medianRatio(
      rounds,
      [
        { workload, subject },
        { workload, subject: 'ceiling' },
      ],
      ({ latency }) => latency.p99,
    ),
    busy: median(cells.map((cell) => cell.busy)) ?? 0,
    ratios,
    targets: (SUBJECTS[subject].targets[workload] ?? []).flatMap((target) =>
      verdict(target, medianRatio(rounds, [{ workload, subject }, otherCell({ workload, subject }, target.against)])),
    ),
    faults: cells.reduce((sum, { faults }) => sum + faults, 0),
    examples: cells.flatMap(({ examples }) => examples),
  };
}

function verdict(target: Target, measured: number | undefined): Verdict[] {
  return measured === undefined ? [] : [{ ...target, measured, reached: measured >= target.ratio }];
}

interface CellName {
  readonly workload: WorkloadName;
  readonly subject: SubjectName;
}

function otherCell({ workload, subject }: CellName, against: Target['against']): CellName {
  return isSubject(against) ? { workload, subject: against } : { workload: against, subject };
}

function isSubject(name: string): name is SubjectName {
  return SUBJECT_NAMES.some((subject) => subject === name);
}

/** The median of the ratios within each round; of answers per CPU time if no other figure is given. */
function medianRatio(
  rounds: RowParts['rounds'],
  [own, other]: readonly [CellName, CellName],
  figure = ({ cpuMicros }: Measurement): number => 1 / cpuMicros,
): number | undefined {
  return median(
    rounds.flatMap((cells) => {
      const [mine] = cellsOf([cells], own.workload, own.subject);
      const [theirs] = cellsOf([cells], other.workload, other.subject);
      return mine && theirs && figure(theirs) > 0 ? [figure(mine) / figure(theirs)] : [];
    }),
  );
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
