import type { GeneratorMessage } from '../load/generator.js';
import type { LoadOrder, LoadResult } from '../load/load-run.js';
import { profileArgs } from '../report/profile-args.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { SUBJECTS, type SubjectName } from '../subjects.js';
import { WORKLOADS, type WorkloadName } from '../workloads.js';
import { ChildProgram } from './child-program.js';
import type { Cores } from './cores.js';
import { inDataFolder } from './data-folder.js';

/** One measurement: a fresh process of a subject under one workload. */
export interface Measurement extends LoadResult {
  readonly workload: WorkloadName;
  readonly subject: SubjectName;
  /** In the unit of the workload. */
  readonly rate: number;
  /** CPU time of the subject per answer, µs. */
  readonly cpuMicros: number;
  /** Part of one core that the subject used. Near 1, nothing else slowed it. */
  readonly busy: number;
}

/** Options of a measurement. */
export interface MeasureOptions extends Omit<LoadOrder, 'port'> {
  readonly subject: SubjectName;
  readonly generator: ChildProgram<GeneratorMessage>;
  readonly cores: Cores | undefined;
  /** The commands of servers in other languages. */
  readonly commands: ReadonlyMap<SubjectName, readonly string[]>;
  /** The file of the CPU profile of the subject. */
  readonly profile?: string | undefined;
}

/** Time for a subject to store its tasks. */
const STORED_PATIENCE_MS = 180_000;

/** Starts a subject, loads it, and ends it. Throws if it does not even start. */
export async function measure(options: MeasureOptions): Promise<Measurement> {
  const { subject, generator, cores, commands, profile, ...order } = options;
  const { program, storage } = SUBJECTS[subject];
  return inDataFolder(storage, async (folder) => {
    await using server = new ChildProgram<SubjectMessage>({
      program: `subjects/${program}`,
      args: [order.workload, storage ?? '', folder, ...(commands.get(subject) ?? [])],
      nodeArgs: profileArgs(profile),
      core: cores?.subject,
    });
    const { port } = await server.next('ready', STORED_PATIENCE_MS);
    const measurement = await load({ server, generator, subject, order: { ...order, port } });
    if (profile !== undefined) await server.end();
    return measurement;
  });
}

interface Loading {
  readonly server: ChildProgram<SubjectMessage>;
  readonly generator: ChildProgram<GeneratorMessage>;
  readonly subject: SubjectName;
  readonly order: LoadOrder;
}

async function load({ server, generator, subject, order }: Loading): Promise<Measurement> {
  const patienceMs = (order.warmUpSeconds.max + order.seconds + 30) * 1000;
  const begun = generator.next('begun', patienceMs);
  const ended = generator.next('ended', patienceMs);
  const finished = generator.next('result', patienceMs);
  generator.send(order);
  await begun;
  const before = await cpuMicrosOf(server);
  await ended;
  const after = await cpuMicrosOf(server);
  const { result } = await finished;
  const { workload } = order;
  const rate = (result.answers * WORKLOADS[workload].countPerAnswer) / result.seconds;
  const printed = server.output === '' ? result : withFault(result, `the subject printed: ${server.output}`);
  const cpuMicros = (after - before) / Math.max(1, result.answers);
  const busy = (after - before) / 1e6 / result.seconds;
  return { workload, subject, rate, cpuMicros, busy, ...printed };
}

function withFault(result: LoadResult, fault: string): LoadResult {
  return { ...result, faults: result.faults + 1, examples: [...result.examples, fault] };
}

async function cpuMicrosOf(server: ChildProgram<SubjectMessage>): Promise<number> {
  const usage = server.next('usage');
  server.send({ kind: 'now' });
  return (await usage).usage.cpuMicros;
}
