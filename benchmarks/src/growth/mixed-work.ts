import { type ProbedServer, prompted } from '../probes/probed-server.js';
import { jsonOf, textOf } from '../probes/subject-client.js';
import { inDataFolder } from '../run/data-folder.js';
import { CHUNKS, PAGE_SIZE, STREAM_EVENTS } from '../workloads.js';
import { repeat, type StorageName, withServer } from './grown-server.js';

/** Heaps after collections, in bytes, at the end of each tenth of the work. */
export interface MixedRow {
  readonly events: number;
  readonly heaps: readonly number[];
  /** The last tenth against the second one. */
  readonly ratio: number;
  readonly cpuMicros: number;
}

const TENTHS = 10;
/** Number of events between two deletions of finished tasks. */
const SWEPT_EVENTS = 50_000;
/** SUBMITTED, the artifact, COMPLETED. */
const TASK_EVENTS = 3;
/** Two tasks and a stream, then reads. */
const ROUND_EVENTS = 2 * TASK_EVENTS + STREAM_EVENTS;

/** Measures the heap under streams, tasks, reads and lists with so many events in all. */
export function mixedRow(storage: StorageName, events: number): Promise<MixedRow> {
  return inDataFolder(storage, (folder) =>
    withServer({ storage, folder }, async (server) => {
      const heaps: number[] = [];
      const tenth = events / TENTHS;
      const before = await server.usage();
      for (let at = 0; at < TENTHS; at++) {
        for (let done = 0; done < tenth; done += SWEPT_EVENTS) {
          await repeat(Math.ceil(Math.min(SWEPT_EVENTS, tenth - done) / ROUND_EVENTS), 16, () => round(server));
          await server.usage('settle');
        }
        heaps.push((await server.usage('settle')).heap);
      }
      const { cpuMicros } = await server.usage();
      const ratio = (heaps.at(-1) ?? Number.NaN) / (heaps[1] ?? Number.NaN);
      return { events, heaps, ratio, cpuMicros: (cpuMicros - before.cpuMicros) / events };
    }),
  );
}

async function round(server: ProbedServer): Promise<void> {
  const { task } = (await jsonOf(server.call('SendMessage', prompted('hello')))) as {
    readonly task: { readonly id: string };
  };
  await server.finish('hello again');
  const body = await textOf(await server.call('SendStreamingMessage', prompted(`push ${CHUNKS}`)));
  if (body.match(/"artifactUpdate":/g)?.length !== CHUNKS) throw new Error(`Not ${CHUNKS} chunks: ${body}`);
  await jsonOf(server.call('GetTask', { id: task.id }));
  await jsonOf(server.call('ListTasks', { pageSize: PAGE_SIZE }));
}
