import { median } from '../report/summary.js';
import { markdown } from '../report/table.js';
import { STREAM_EVENTS } from '../workloads.js';
import type { WireMeasurement } from './run-wires.js';
import { WIRE_NAMES, WIRE_WORKS, WIRES, type WireName, type WireWork } from './wire-rows.js';

/** One row: medians over the rounds. Figures are of answers to `call`, and of events of `stream`. */
export interface WireSummary {
  readonly work: WireWork;
  readonly wire: WireName;
  /** Per second of time. Other work of the machine lowers it. */
  readonly rate: number;
  /** CPU time of the server for each, µs. */
  readonly serverMicros: number | undefined;
  /** CPU time of the caller for each, µs. */
  readonly callerMicros: number | undefined;
  readonly targets: readonly WireVerdict[];
  readonly faults: readonly string[];
}

/** A target and its ratio: the median of the ratios within a round. */
export interface WireVerdict {
  readonly against: WireName;
  readonly wanted: number;
  readonly ratio: number;
  readonly reached: boolean;
}

const COUNTS: { readonly [Work in WireWork]: number } = { call: 1, stream: STREAM_EVENTS };
const UNITS: { readonly [Work in WireWork]: string } = { call: 'answers', stream: 'events' };

/** The rows of a run. */
export function summarizeWires(rounds: readonly (readonly WireMeasurement[])[]): readonly WireSummary[] {
  return WIRE_WORKS.flatMap((work) =>
    WIRE_NAMES.flatMap((wire): WireSummary[] => {
      const cells = rounds.flatMap((cells) => cells.filter((cell) => cell.work === work && cell.wire === wire));
      if (cells.length === 0) return [];
      const per = (total: (cell: WireMeasurement) => number | undefined) =>
        median(cells.flatMap((cell) => perUnit(cell, total(cell)) ?? []));
      return [
        {
          ...{ work, wire },
          rate: median(cells.map(({ answers, seconds }) => (answers * COUNTS[work]) / seconds)) ?? 0,
          serverMicros: per(({ serverMicros }) => serverMicros),
          callerMicros: per(({ callerMicros }) => callerMicros),
          targets: WIRES[wire].targets.flatMap((target) => verdictOf(rounds, { work, wire, ...target }) ?? []),
          faults: cells.flatMap(({ faults }) => faults),
        },
      ];
    }),
  );
}

function perUnit({ work, answers }: WireMeasurement, micros: number | undefined): number | undefined {
  return micros === undefined || answers === 0 ? undefined : micros / (answers * COUNTS[work]);
}

interface Comparison {
  readonly work: WireWork;
  readonly wire: WireName;
  readonly against: WireName;
  readonly ratio: number;
}

function verdictOf(
  rounds: readonly (readonly WireMeasurement[])[],
  { work, wire, against, ratio: wanted }: Comparison,
): WireVerdict | undefined {
  // Without a server of its own a row has the work of both sides.
  const isBoth = WIRES[wire].server === undefined;
  const ratio = median(
    rounds.flatMap((cells) => {
      const [own, other] = [wire, against].map((name) => {
        const cell = cells.find((one) => one.work === work && one.wire === name);
        return cell && perUnit(cell, isBoth ? totalOf(cell) : microsOf(cell));
      });
      return own === undefined || other === undefined ? [] : other / own;
    }),
  );
  return ratio === undefined ? undefined : { against, wanted, ratio, reached: ratio >= wanted };
}

/** CPU time of the side that counts. */
function microsOf({ wire, serverMicros, callerMicros }: WireMeasurement): number | undefined {
  return WIRES[wire].side === 'server' ? serverMicros : callerMicros;
}

function totalOf({ serverMicros = 0, callerMicros = 0 }: WireMeasurement): number {
  return serverMicros + callerMicros;
}

const HEADS = ['work', 'binding', 'per second', 'CPU of the server', 'CPU of the caller', 'per CPU second, against'];

/** The rows as a Markdown table. */
export function wireTable(rows: readonly WireSummary[]): string {
  return markdown([
    HEADS,
    ...rows.map(({ work, wire, rate, serverMicros, callerMicros, targets, faults }, index) => [
      rows[index - 1]?.work === work ? '' : work,
      WIRES[wire].title,
      `${Math.round(rate)} ${UNITS[work]}/s`,
      micros(serverMicros),
      micros(callerMicros),
      faults.length > 0 ? `${faults.length} FAULTS` : targets.map(told).join(', '),
    ]),
  ]);
}

function told({ against, wanted, ratio, reached }: WireVerdict): string {
  return `${reached ? '✔' : '✘'} ${ratio.toFixed(2)} × ${WIRES[against].title} (≥ ${wanted})`;
}

function micros(value: number | undefined): string {
  return value === undefined ? '' : `${value.toFixed(1)} µs`;
}
