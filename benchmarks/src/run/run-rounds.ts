import { join } from 'node:path';
import type { GeneratorMessage } from '../load/generator.js';
import { SUBJECT_NAMES, type SubjectName } from '../subjects.js';
import { WORKLOAD_NAMES, WORKLOADS, type WorkloadName } from '../workloads.js';
import { ChildProgram } from './child-program.js';
import type { Cores } from './cores.js';
import { type Measurement, type MeasureOptions, measure } from './measure.js';

/** Options of a whole run. */
export interface RoundsOptions {
  readonly workloads: readonly WorkloadName[];
  readonly subjects: readonly SubjectName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: MeasureOptions['warmUpSeconds'];
  readonly connections: number;
  readonly cores: Cores | undefined;
  readonly commands: MeasureOptions['commands'];
  /** The folder of CPU profiles, with a folder for each row. */
  readonly profile?: string | undefined;
  /** Called after each measurement. */
  readonly done?: (measurement: Measurement, round: number) => void;
}

/**
 * Measures every subject under every workload once per round, each time in a fresh process. Each round begins with
 * another subject, so that disturbances of the machine affect all of them.
 */
export async function runRounds(options: RoundsOptions): Promise<readonly Measurement[][]> {
  const { rounds, cores, commands, seconds, warmUpSeconds, connections, profile, done } = options;
  const workloads = WORKLOAD_NAMES.filter((name) => options.workloads.includes(name));
  const subjects = SUBJECT_NAMES.filter((name) => options.subjects.includes(name));
  await using generator = new ChildProgram<GeneratorMessage>({ program: 'load/generator', core: cores?.load });
  await generator.next('ready');
  const measured: Measurement[][] = [];
  for (let round = 0; round < rounds; round++) {
    const cells: Measurement[] = [];
    measured.push(cells);
    for (const workload of workloads) {
      const measurable = subjects.filter((name) => WORKLOADS[workload].subjects.includes(name));
      const turn = round % Math.max(1, measurable.length);
      for (const subject of [...measurable.slice(turn), ...measurable.slice(0, turn)]) {
        const order = { workload, subject, connections, warmUpSeconds, seconds };
        const folder = profile && join(profile, `${workload}-${subject}`);
        const measurement = await measure({ ...order, generator, cores, commands, profile: folder });
        cells.push(measurement);
        done?.(measurement, round);
      }
    }
  }
  return measured;
}
