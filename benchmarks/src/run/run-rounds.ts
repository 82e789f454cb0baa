import type { GeneratorMessage } from '../load/generator.js';
import { SUBJECT_NAMES, type SubjectName } from '../subjects.js';
import { WORKLOAD_NAMES, type WorkloadName } from '../workloads.js';
import { ChildProgram } from './child-program.js';
import type { Cores } from './cores.js';
import { type Measurement, type MeasureOptions, measure } from './measure.js';

/** What a whole run measures. */
export interface RoundsOptions {
  readonly workloads: readonly WorkloadName[];
  readonly subjects: readonly SubjectName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: MeasureOptions['warmUpSeconds'];
  readonly connections: number;
  readonly cores: Cores | undefined;
  /** Called after each measurement. */
  readonly done?: (measurement: Measurement, round: number) => void;
}

/**
 * Measures every subject under every workload once per round, each time in a fresh process, and begins each round with
 * another subject: what disturbs the machine hits all of them alike.
 */
export async function runRounds(options: RoundsOptions): Promise<readonly Measurement[][]> {
  const { rounds, cores, seconds, warmUpSeconds, connections, done } = options;
  const workloads = WORKLOAD_NAMES.filter((name) => options.workloads.includes(name));
  const subjects = SUBJECT_NAMES.filter((name) => options.subjects.includes(name));
  await using generator = new ChildProgram<GeneratorMessage>({ program: 'load/generator', core: cores?.load });
  await generator.next('ready');
  const measured: Measurement[][] = [];
  for (let round = 0; round < rounds; round++) {
    const cells: Measurement[] = [];
    measured.push(cells);
    const turn = round % subjects.length;
    for (const workload of workloads) {
      for (const subject of [...subjects.slice(turn), ...subjects.slice(0, turn)]) {
        const order = { workload, subject, connections, warmUpSeconds, seconds };
        const measurement = await measure({ ...order, generator, cores });
        cells.push(measurement);
        done?.(measurement, round);
      }
    }
  }
  return measured;
}
