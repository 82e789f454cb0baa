import { markdown } from '../report/table.js';
import type { GrowthFigures, RoundFigures } from './main.js';
import type { Rate } from './measure-rates.js';
import { median } from './statistics.js';

/** Tasks and streamed events in a second, and what each costs in the database. */
export function rateTable(rounds: readonly RoundFigures[]): string {
  const heads = [
    'backend',
    'replicas',
    'load',
    'per second',
    'p50 / p99',
    'log bytes',
    'stored bytes',
    'statements',
    'commits',
  ];
  const lines = grouped(rounds).flatMap(({ backend, replicas, all }) =>
    (['tasks', 'events'] as const).flatMap((load) => {
      const rates = all.flatMap((one) => one[load] ?? []);
      return rates.length === 0 ? [] : [[backend, String(replicas), load, ...rateCells(rates)]];
    }),
  );
  return lines.length === 0 ? '' : markdown([heads, ...lines]);
}

function rateCells(rates: readonly Rate[]): string[] {
  const of = (read: (rate: Rate) => number) => median(rates.map(read));
  return [
    whole(of((rate) => rate.perSecond)),
    `${of((rate) => rate.p50).toFixed(1)} / ${of((rate) => rate.p99).toFixed(1)} ms`,
    whole(of((rate) => rate.each.logBytes)),
    whole(of((rate) => rate.each.storedBytes)),
    of((rate) => rate.each.statements).toFixed(2),
    of((rate) => rate.each.commits).toFixed(2),
  ];
}

/** Cancellation, readers on other replicas, and takeover. */
export function latencyTable(rounds: readonly RoundFigures[]): string {
  const heads = ['backend', 'replicas', 'cancel p50 / p99', 'fan-out', 'lag p50 / p99', 'takeover'];
  const lines = grouped(rounds).flatMap(({ backend, replicas, all }) => {
    const cancels = all.flatMap(({ cancel }) => cancel ?? []);
    const fans = all.flatMap(({ fanOut }) => fanOut ?? []);
    if (cancels.length === 0) return [];
    const takeovers = all.flatMap(({ takeoverMs }) => takeoverMs ?? []);
    return [
      [
        backend,
        String(replicas),
        `${median(cancels.map(({ p50 }) => p50)).toFixed(1)} / ${median(cancels.map(({ p99 }) => p99)).toFixed(1)} ms`,
        `${whole(median(fans.map(({ perSecond }) => perSecond)))} events/s`,
        `${median(fans.map(({ p50 }) => p50)).toFixed(1)} / ${median(fans.map(({ p99 }) => p99)).toFixed(1)} ms`,
        takeovers.length === 0 ? '–' : `${(median(takeovers) / 1_000).toFixed(1)} s`,
      ],
    ];
  });
  return lines.length === 0 ? '' : markdown([heads, ...lines]);
}

/** Costs that have to stay flat while a task or the store grows. */
export function growthTables(growth: readonly GrowthFigures[]): string[] {
  const events = growth.flatMap(({ backend, events = [] }) =>
    events.map(({ events: count, each, micros }) => [
      backend,
      whole(count),
      `${micros.toFixed(0)} µs`,
      whole(each.logBytes),
      whole(each.storedBytes),
      each.statements.toFixed(3),
    ]),
  );
  const tasks = growth.flatMap(({ backend, tasks = [] }) =>
    tasks.map(({ tasks: count, rate, getMs, listMs }) => [
      backend,
      whole(count),
      whole(rate.perSecond),
      whole(rate.each.logBytes),
      rate.each.pageImages.toFixed(2),
      rate.each.statements.toFixed(2),
      `${getMs.toFixed(1)} ms`,
      `${listMs.toFixed(1)} ms`,
    ]),
  );
  const eventHeads = ['backend', 'events of a task', 'time of one', 'log bytes', 'stored bytes', 'statements'];
  const taskHeads = [
    'backend',
    'tasks in the store',
    'tasks/s',
    'log bytes',
    'page images',
    'statements',
    'GetTask',
    'ListTasks',
  ];
  return [
    ...(events.length > 0 ? [markdown([eventHeads, ...events]), ''] : []),
    ...(tasks.length > 0 ? [markdown([taskHeads, ...tasks])] : []),
  ];
}

function grouped(rounds: readonly RoundFigures[]) {
  const groups = Map.groupBy(rounds, ({ backend, replicas }) => `${backend} ${replicas}`);
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    return first === undefined ? [] : [{ backend: first.backend, replicas: first.replicas, all }];
  });
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
