import { LoadRun } from '../load/load-run.js';
import { ProbedServer } from '../probes/probed-server.js';
import { profileArgs } from '../report/profile-args.js';
import { median } from '../report/summary.js';
import { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { WORKLOADS } from '../workloads.js';

/** The settings of a server: without the option `tracing`; with it and no SDK; with a sampler; spans by the SDK alone. */
const SUBJECTS = ['none', 'off', 'dropped', 'recorded', 'by hand'] as const;
type Subject = (typeof SUBJECTS)[number];

const TRACED_WORKLOADS = ['call', 'task', 'stream'] as const;
type TracedWorkload = (typeof TRACED_WORKLOADS)[number];

/** Costs of one workload. */
export interface TracingCost {
  readonly workload: TracedWorkload;
  /** CPU time of an answer, or of an event of a stream, in µs. */
  readonly micros: Readonly<Record<Subject, number>>;
  /** Against `none`. */
  readonly off: number;
  readonly dropped: number;
  /** The cost that spans add, by the cost that those of the SDK alone add. A stream has none of these. */
  readonly recorded: number;
}

/** The size of a measurement. */
export interface TracingCostOptions {
  readonly workloads?: readonly TracedWorkload[];
  /** Each has processes of its own: the compiler and the memory of two processes differ. */
  readonly generations: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** The folder for the profiles of the processes. */
  readonly profile?: string | undefined;
}

const CONNECTIONS = 16;

/** Measures servers, each in a process of its own, that take turns in short slices. */
export async function measureTracing(options: TracingCostOptions): Promise<readonly TracingCost[]> {
  const costs: TracingCost[] = [];
  for (const workload of options.workloads ?? TRACED_WORKLOADS) {
    const rounds: Record<Subject, number>[] = [];
    for (let generation = 0; generation < options.generations; generation += 1)
      rounds.push(...(await generationOf(workload, options)));
    const of = (figure: (round: Record<Subject, number>) => number) => median(rounds.map(figure)) ?? Number.NaN;
    costs.push({
      workload,
      micros: Object.fromEntries(SUBJECTS.map((subject) => [subject, of((round) => round[subject])])) as Record<
        Subject,
        number
      >,
      off: of(({ off, none }) => off / none),
      dropped: of(({ dropped, none }) => dropped / none),
      recorded: of(({ recorded, none, 'by hand': byHand }) => recorded - none) / of((round) => round['by hand'] - round.none),
    });
  }
  return costs;
}

async function generationOf(
  workload: TracedWorkload,
  { rounds, seconds, warmUpSeconds, profile }: TracingCostOptions,
): Promise<readonly Record<Subject, number>[]> {
  await using programs = new AsyncDisposableStack();
  const children: ChildProgram<SubjectMessage>[] = [];
  const servers: Server[] = [];
  for (const subject of SUBJECTS) {
    const [args, nodeArgs] = [[workload, subject], profileArgs(profile)];
    const options = { program: 'subjects/traced-parley', args, nodeArgs, core: undefined };
    const child = programs.use(new ChildProgram<SubjectMessage>(options));
    const { port } = await child.next('ready');
    children.push(child);
    servers.push({ subject, workload, probed: new ProbedServer('memory', child, port), port });
  }
  for (const server of servers) await slice(server, warmUpSeconds);
  const measured: Record<Subject, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const figures = { none: 0, off: 0, dropped: 0, recorded: 0, 'by hand': 0 };
    const order = round % 2 === 0 ? servers : [...servers].reverse();
    for (const server of order) figures[server.subject] = await slice(server, seconds);
    measured.push(figures);
  }
  if (profile !== undefined) for (const child of children) await child.end();
  return measured;
}

interface Server {
  readonly subject: Subject;
  readonly workload: TracedWorkload;
  readonly probed: ProbedServer;
  readonly port: number;
}

/** Loads a server. Resolves to the CPU time of an answer or an event, in µs. */
async function slice({ workload, probed, port }: Server, seconds: number): Promise<number> {
  const before = (await probed.usage()).cpuMicros;
  const warmUpSeconds = { min: 0, max: 0 };
  const run = new LoadRun({ workload, port, connections: CONNECTIONS, warmUpSeconds, seconds });
  const { answers, faults, examples } = await run.run({ begun: () => {}, ended: () => {} });
  if (faults > 0) throw new Error(examples[0]);
  return ((await probed.usage()).cpuMicros - before) / answers / WORKLOADS[workload].countPerAnswer;
}
