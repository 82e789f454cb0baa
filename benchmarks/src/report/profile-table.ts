import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SUBJECTS } from '../subjects.js';
import type { Row } from './summary.js';
import { markdown } from './table.js';

/** The part of a CPU profile of V8 that is read: one thread. Times are in µs, by one clock for all threads. */
export interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  /** The node that ran at each sample. */
  readonly samples: readonly number[];
  /** The time from each sample to the one before it. */
  readonly timeDeltas: readonly number[];
}

/** Parts of a server, in the order of the table. Functions of V8 without a file count as Node.js. */
const PARTS = {
  node: 'Node.js',
  garbage: 'garbage collection',
  http: 'adapter, middlewares',
  bindings: 'bindings, codecs, JSON',
  engine: 'engine, tasks',
  storage: 'storage',
  rest: 'ids, timers, figures',
  agent: 'agent, fixed answers',
} as const;
type Part = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as readonly Part[];

/** The rooms of the library that are no part of the rest. */
const ROOMS: ReadonlyMap<string, Part> = new Map([
  ...(['adapters', 'app', 'auth', 'net'] as const).map((room) => [room, 'http'] as const),
  ...(['bindings', 'codec', 'operations', 'schemas', 'model'] as const).map((room) => [room, 'bindings'] as const),
  ...(['server', 'task'] as const).map((room) => [room, 'engine'] as const),
  ['store', 'storage'],
]);
const ROOM = /\/packages\/parley\/dist\/([^/]+)\//;

/** The CPU time of each part of a server, µs, from all its threads. Only the last seconds of work count. */
export function timesOfParts(threads: readonly CpuProfile[], seconds: number): ReadonlyMap<Part, number> {
  const samples = threads.flatMap(workOf);
  const begin = samples.reduce((last, { time }) => Math.max(last, time), 0) - seconds * 1e6;
  const times = new Map<Part, number>();
  for (const { part, time, micros } of samples) {
    if (time >= begin) times.set(part, (times.get(part) ?? 0) + micros);
  }
  return times;
}

interface Sample {
  readonly part: Part;
  readonly time: number;
  readonly micros: number;
}

/** The samples of a thread, without those in which it waited. */
function workOf({ nodes, samples, timeDeltas, startTime }: CpuProfile): Sample[] {
  const parts = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  let time = startTime;
  return samples.flatMap((id, at) => {
    const micros = timeDeltas[at] ?? 0;
    time += micros;
    const part = parts.get(id);
    return part === undefined ? [] : [{ part, time, micros }];
  });
}

/** Undefined for a thread that waits. */
function partOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): Part | undefined {
  if (functionName === '(idle)') return undefined;
  if (functionName === '(garbage collector)') return 'garbage';
  if (url === '' || url.startsWith('node:')) return 'node';
  const room = ROOM.exec(url)?.[1];
  return room === undefined ? 'agent' : (ROOMS.get(room) ?? 'rest');
}

/**
 * The CPU time per answer of each row by the parts of its server, as a Markdown table. The parts of a row add up to its
 * CPU time. All threads of a server count.
 */
export async function profileTable(rows: readonly Row[], folder: string, seconds: number): Promise<string> {
  const lines = await Promise.all(
    rows.map(async ({ workload, subject, cpuMicros }) => {
      const times = timesOfParts(await threadsOf(join(folder, `${workload}-${subject}`)), seconds);
      const whole = [...times.values()].reduce((sum, micros) => sum + micros, 0);
      const cells = PART_NAMES.map((part) => `${((cpuMicros * (times.get(part) ?? 0)) / whole).toFixed(1)} µs`);
      return [workload, SUBJECTS[subject].title, ...cells, `${cpuMicros.toFixed(1)} µs`];
    }),
  );
  return markdown([['workload', 'server', ...Object.values(PARTS), 'in all'], ...lines]);
}

async function threadsOf(folder: string): Promise<readonly CpuProfile[]> {
  const files = await readdir(folder);
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile));
}
