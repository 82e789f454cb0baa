// `npm run bench:growth`: costs while a server grows. Exits with 1 after a missed target.
import { parseArgs } from 'node:util';
import { thisMachine } from '../report/machine.js';
import { markdown } from '../report/table.js';
import { eventRows } from './event-growth.js';
import { STORAGES, type StorageName } from './grown-server.js';
import { idleRows } from './idle-memory.js';
import { mixedRow } from './mixed-work.js';
import { storedRows } from './stored-growth.js';

const SHORT = { tasks: 10_000, events: 10_000, idle: 1_000, mixed: 100_000 };
const LONG = { tasks: 1_000_000, events: 100_000, idle: 10_000, mixed: 10_000_000 };
type Part = keyof typeof SHORT;
const PARTS = Object.keys(SHORT) as readonly Part[];

const START_MS = 2_000;
/** Per event and per task: the largest against the smallest. */
const FLAT = 1.2;
const HEAP = 1.05;

const USAGE = `npm run bench:growth -- [options]
Costs while a server grows, by CPU time, in memory and on SQLite.

  --long           ${LONG.tasks} tasks, ${LONG.events} events of a task, ${LONG.idle} idle connections and streams, and
                   ${LONG.mixed} events of mixed work. The short form has ${SHORT.tasks}, ${SHORT.events}, ${SHORT.idle} and ${SHORT.mixed}
  --only PARTS     some of ${PARTS.join(', ')}, memory, sqlite, by comma
  --tasks N, --events N, --idle N, --mixed N
                   other sizes
`;

async function main(): Promise<number> {
  const size = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      ...{ long: { type: 'boolean' }, only: { type: 'string' }, help: { type: 'boolean' } },
      ...{ tasks: size, events: size, idle: size, mixed: size },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const names = values.only?.split(',') ?? [];
  const strange = names.find((name) => ![...PARTS, ...STORAGES].some((known) => known === name));
  if (strange !== undefined) throw new TypeError(`--only: ${strange} is none of ${[...PARTS, ...STORAGES].join(', ')}`);
  const named = <Name extends string>(all: readonly Name[]) => {
    const some = all.filter((name) => names.includes(name));
    return some.length > 0 ? some : all;
  };
  const defaults = values.long ? LONG : SHORT;
  const { cpu, cores, memoryGb, system, versions } = thisMachine();
  print(`${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node.js ${versions.node}`);
  let missed = false;
  for (const part of named(PARTS)) {
    const count = Number(values[part] ?? defaults[part]);
    const lines: (readonly string[])[] = [];
    for (const storage of named(STORAGES)) {
      const { rows, reached } = await PARTS_BY_NAME[part].rows(storage, count);
      lines.push(...rows.map((row) => [storage, ...row]));
      missed ||= !reached;
    }
    print(`\n${markdown([['storage', ...PARTS_BY_NAME[part].heads], ...lines])}`);
  }
  return missed ? 1 : 0;
}

/** Rows of a table without the column of the storage. */
interface Found {
  readonly rows: readonly (readonly string[])[];
  readonly reached: boolean;
}

const PARTS_BY_NAME: {
  readonly [Name in Part]: {
    readonly heads: readonly string[];
    readonly rows: (storage: StorageName, count: number) => Promise<Found>;
  };
} = {
  tasks: {
    heads: ['stored tasks', 'µs a task', 'µs a GetTask', 'µs a ListTasks', 'start', 'RSS'],
    rows: async (storage, count) => {
      const rows = await storedRows(storage, count);
      const [first, last] = [rows[0], rows.at(-1)];
      const isFlat = (last?.task ?? Number.NaN) <= FLAT * (first?.task ?? Number.NaN);
      const isStarted = (last?.start?.cpu ?? 0) < START_MS;
      return {
        rows: rows.map(({ tasks, task, get, list, start, rss }) => [
          ...[String(tasks), task.toFixed(1), get.toFixed(1), list.toFixed(1)],
          start === undefined ? '' : `${start.passed.toFixed(0)} ms, ${start.cpu.toFixed(0)} of CPU`,
          megabytes(rss),
        ]),
        reached: isFlat && isStarted,
      };
    },
  },
  events: {
    heads: ['events of a task', 'first and last tenth', 'ratio'],
    rows: async (storage, count) => {
      const rows = await eventRows(storage, count);
      return {
        rows: rows.map(({ events, detail, ratio }) => [String(events), detail, ratio.toFixed(2)]),
        reached: rows.every(({ ratio }) => ratio <= FLAT),
      };
    },
  },
  idle: {
    heads: ['idle', 'count', 'RSS of each', 'heap of each', 'RSS before'],
    rows: async (storage, count) => {
      const rows = await idleRows(storage, count);
      return {
        rows: rows.map(({ what, rss, heap, idleRss }) => [
          ...[what, String(count), kilobytes(rss), kilobytes(heap), megabytes(idleRss)],
        ]),
        reached: true,
      };
    },
  },
  mixed: {
    heads: ['events', 'heap after each tenth', 'last against second', 'µs an event'],
    rows: async (storage, count) => {
      const { events, heaps, ratio, cpuMicros } = await mixedRow(storage, count);
      const shown = heaps.map((heap) => (heap / 2 ** 20).toFixed(1)).join(', ');
      return {
        rows: [[String(events), `${shown} MB`, ratio.toFixed(3), cpuMicros.toFixed(1)]],
        reached: ratio <= HEAP,
      };
    },
  },
};

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} kB`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
