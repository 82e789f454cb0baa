import { join } from 'node:path';
import { type Measured, ProbedServer } from '../probes/probed-server.js';
import { PROBES, type ProbeName } from '../probes.js';
import { profileArgs } from '../report/profile-args.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { SUBJECTS, type SubjectName } from '../subjects.js';
import { ChildProgram } from './child-program.js';
import type { Cores } from './cores.js';
import { inDataFolder } from './data-folder.js';

/** One probe of one subject, in a fresh process. */
export interface Probing extends Measured {
  readonly probe: ProbeName;
  readonly subject: SubjectName;
  readonly fault?: string;
}

/** Options of the probes. */
export interface ProbesOptions {
  readonly probes: readonly ProbeName[];
  readonly subjects: readonly SubjectName[];
  readonly rounds: number;
  readonly cores: Cores | undefined;
  /** The folder of CPU profiles, with a folder for each row. */
  readonly profile?: string | undefined;
  /** Called after each probe. */
  readonly done?: (probing: Probing, round: number) => void;
}

/** Probes every subject once per round, the rounds interleaved. */
export async function runProbes(options: ProbesOptions): Promise<readonly Probing[][]> {
  const { probes, subjects, rounds, cores, profile, done } = options;
  const found: Probing[][] = [];
  for (let round = 0; round < rounds; round++) {
    const row: Probing[] = [];
    found.push(row);
    for (const probe of probes) {
      for (const subject of PROBES[probe].subjects.filter((name) => subjects.includes(name))) {
        const folder = profile && join(profile, `${probe}-${subject}`);
        const probing = await probeOnce({ probe, subject, core: cores?.subject, profile: folder });
        row.push(probing);
        done?.(probing, round);
      }
    }
  }
  return found;
}

interface ProbeCell {
  readonly probe: ProbeName;
  readonly subject: SubjectName;
  readonly core: number | undefined;
  readonly profile: string | undefined;
}

async function probeOnce({ probe, subject, core, profile }: ProbeCell): Promise<Probing> {
  try {
    return { probe, subject, ...(await measured({ probe, subject, core, profile })) };
  } catch (error) {
    return { probe, subject, value: Number.NaN, detail: '', fault: String(error).slice(0, 2000) };
  }
}

async function measured({ probe, subject, core, profile }: ProbeCell): Promise<Measured> {
  const { measure } = PROBES[probe];
  if ('alone' in measure) return measure.alone(core);
  const { program, storage } = SUBJECTS[subject];
  return inDataFolder(storage, async (folder) => {
    await using process = new ChildProgram<SubjectMessage>({
      program: `subjects/probed-${program}`,
      args: [probe, storage ?? '', folder],
      nodeArgs: ['--expose-gc', ...profileArgs(profile)],
      core,
    });
    const { port } = await process.next('ready');
    const server = new ProbedServer(subject, process, port);
    const result = await measure.served(server);
    server.close();
    if (profile !== undefined) await process.end();
    if (process.output !== '') throw new Error(`the subject printed: ${process.output}`);
    return result;
  });
}
