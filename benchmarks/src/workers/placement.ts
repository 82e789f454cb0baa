import type { GeneratorMessage } from '../load/generator.js';
import { type LoadOrder, LoadRun } from '../load/load-run.js';
import { ChildProgram } from '../run/child-program.js';
import { allowedCores } from '../run/cores.js';

const CONNECTIONS = 32;
/** Two for servers, so that a second worker has a core, and as many for the load. */
const LEAST_CORES = 4;
const COUNTS = [1, 2, 4, 8, 16];

/** The result of a load, whose answers are all right. */
export interface Loaded {
  readonly answers: number;
  readonly seconds: number;
}

/** Calls around the time that is measured. */
export interface Marks {
  readonly begun: () => void;
  readonly ended: () => void;
}

type Order = Pick<LoadOrder, 'workload' | 'port' | 'seconds'>;

/** The places of servers and of their load. */
export interface Placement {
  readonly title: string;
  /** Cores of a server; `undefined` if it shares all of the machine with the load. */
  readonly cores: readonly number[] | undefined;
  /** Numbers of workers to measure. */
  readonly counts: readonly number[];
  load(order: Order, marks: Marks): Promise<Loaded>;
}

/** Server and load share the machine: figures by CPU time mean something, rates do not. */
export const SHARED: Placement = {
  title: `The load shares the cores; ${CONNECTIONS} connections.`,
  cores: undefined,
  counts: [0, 1, 2],
  load: async (order, marks) => {
    const load = { ...order, connections: CONNECTIONS, warmUpSeconds: { min: 1, max: 6 } };
    return right(await new LoadRun(load).run(marks));
  },
};

/**
 * Half of the cores for the servers, and the other half for generators of load, one on each.
 * @throws Error if the machine has too few cores, or cannot keep a process on them.
 */
export function splitMachine(): Placement {
  const all = allowedCores();
  if (all === undefined) throw new Error('--machine needs taskset, to keep servers and load apart');
  if (all.length < LEAST_CORES) {
    throw new Error(
      `--machine needs ${LEAST_CORES} cores at least, half of them for the load. This machine has ${all.length}. Run npm run bench:workers without it`,
    );
  }
  const half = Math.floor(all.length / 2);
  const [cores, loads] = [all.slice(0, half), all.slice(half)];
  return {
    title: `${cores.length} cores for the server, ${loads.length} for the load; ${CONNECTIONS} connections from each of these.`,
    cores,
    counts: COUNTS.filter((count) => count <= cores.length),
    load: (order, marks) => loadFrom(loads, order, marks),
  };
}

async function loadFrom(cores: readonly number[], order: Order, marks: Marks): Promise<Loaded> {
  await using programs = new AsyncDisposableStack();
  // All warm up for the same time, so that all measure at the same time.
  const load = { ...order, connections: CONNECTIONS, warmUpSeconds: { min: 6, max: 6 } };
  const generators = cores.map((core) =>
    programs.use(new ChildProgram<GeneratorMessage>({ program: 'load/generator', core })),
  );
  await Promise.all(generators.map((generator) => generator.next('ready')));
  const begun = Promise.all(generators.map((generator) => generator.next('begun')));
  const ended = Promise.all(generators.map((generator) => generator.next('ended', (order.seconds + 30) * 1000)));
  const results = generators.map((generator) => generator.next('result', (order.seconds + 60) * 1000));
  for (const generator of generators) generator.send(load);
  await begun;
  marks.begun();
  await ended;
  marks.ended();
  const loaded = (await Promise.all(results)).map(({ result }) => right(result));
  return { answers: loaded.reduce((sum, { answers }) => sum + answers, 0), seconds: loaded[0]?.seconds ?? Number.NaN };
}

/** @throws Error for a wrong answer. */
function right(result: Loaded & { readonly faults: number; readonly examples: readonly string[] }): Loaded {
  if (result.faults > 0) throw new Error(`Wrong answers: ${result.examples.join('; ')}`);
  return result;
}
