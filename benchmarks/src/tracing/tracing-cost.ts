import { profileArgs } from '../report/profile-args.js';
import { median } from '../report/summary.js';
import { ChildProgram } from '../run/child-program.js';

/** Servers: without the option `tracing`, with it and no SDK, with a sampler, and with spans by the SDK alone. */
const SUBJECTS = ['none', 'off', 'dropped', 'droppedByHand', 'recorded', 'byHand'] as const;
type Subject = (typeof SUBJECTS)[number];
type Figures = Readonly<Record<Subject, number>>;

/** Calls in a slice: enough for the clock, and so few that other programs disturb all subjects alike. */
const SLICES = { call: 200, task: 200, stream: 4 } as const;
type TracedWorkload = keyof typeof SLICES;

/** Costs of the calls of one workload. */
export interface TracingCost {
  readonly workload: TracedWorkload;
  /** CPU time of a call, in µs: the medians of all rounds. */
  readonly micros: Figures;
  /** Against `none`. */
  readonly off: number;
  readonly dropped: number;
  /** The SDK alone, with the sampler. */
  readonly droppedByHand: number;
  /** The cost of the recorded spans, by the cost of those that the SDK alone makes in the same places. */
  readonly recorded: number;
}

/** The size of a measurement. */
interface TracingCostOptions {
  readonly workloads: readonly TracedWorkload[];
  /** Each has processes of its own, because the compiler does not treat all processes alike. */
  readonly generations: number;
  readonly rounds: number;
  /** The folder for the profiles of the processes. */
  readonly profile?: string | undefined;
}

/** Rounds for the compiler, before those that are measured. */
const WARM_UP = 15;
const PATIENCE_MS = 120_000;

type CallsMessage = { readonly kind: 'ready' } | { readonly kind: 'cost'; readonly micros: number };

/**
 * Measures servers, each in a process of its own, which take turns in short slices. A ratio is the median of the ratios
 * within a round.
 */
export async function measureTracing(options: TracingCostOptions): Promise<readonly TracingCost[]> {
  const costs: TracingCost[] = [];
  for (const workload of options.workloads) {
    const rounds: Figures[] = [];
    for (let generation = 0; generation < options.generations; generation += 1)
      rounds.push(...(await measureGeneration(workload, options)));
    const of = (figure: (round: Figures) => number) => median(rounds.map(figure)) ?? Number.NaN;
    costs.push({
      workload,
      micros: eachOf((subject) => of((round) => round[subject])),
      off: of(({ off, none }) => off / none),
      dropped: of(({ dropped, none }) => dropped / none),
      droppedByHand: of(({ droppedByHand, none }) => droppedByHand / none),
      recorded: of(({ recorded, none }) => recorded - none) / of(({ byHand, none }) => byHand - none),
    });
  }
  return costs;
}

async function measureGeneration(
  workload: TracedWorkload,
  { rounds, profile }: TracingCostOptions,
): Promise<readonly Figures[]> {
  await using programs = new AsyncDisposableStack();
  const servers = eachOf((subject) => {
    const options = { program: 'tracing/traced-calls', args: [workload, subject], nodeArgs: profileArgs(profile) };
    return programs.use(new ChildProgram<CallsMessage>({ ...options, core: undefined }));
  });
  await Promise.all(Object.values(servers).map((server) => server.next('ready', PATIENCE_MS)));
  const measured: Figures[] = [];
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const figures = eachOf(() => Number.NaN);
    const order = round % 2 === 0 ? SUBJECTS : SUBJECTS.toReversed();
    for (const subject of order) {
      const cost = servers[subject].next('cost', PATIENCE_MS);
      servers[subject].send({ calls: SLICES[workload] });
      figures[subject] = (await cost).micros;
    }
    if (round >= 0) measured.push(figures);
  }
  if (profile !== undefined) for (const server of Object.values(servers)) await server.end();
  return measured;
}

function eachOf<Value>(make: (subject: Subject) => Value): Record<Subject, Value> {
  const [none, off, dropped, droppedByHand, recorded, byHand] = SUBJECTS;
  return {
    none: make(none),
    off: make(off),
    dropped: make(dropped),
    droppedByHand: make(droppedByHand),
    recorded: make(recorded),
    byHand: make(byHand),
  };
}
