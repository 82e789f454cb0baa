import { prompted } from '../probes/probed-server.js';
import { jsonOf } from '../probes/subject-client.js';
import { inDataFolder } from '../run/data-folder.js';
import { storedTaskId } from '../stored-tasks.js';
import { PAGE_SIZE, QUESTION } from '../workloads.js';
import { costOf, repeat, type StorageName, withServer } from './grown-server.js';

/** Costs of calls while a storage has `tasks` tasks: CPU time of the server, in µs. */
export interface StoredRow {
  readonly tasks: number;
  readonly task: number;
  readonly get: number;
  readonly list: number;
  /** From the start of a process to its first answer: ms that passed, and ms of CPU time. Memory starts empty. */
  readonly start: { readonly passed: number; readonly cpu: number } | undefined;
  readonly rss: number;
}

const CALLS = 4_000;

/** Measures calls and a start with 10 times more tasks each, up to `most`. */
export function storedRows(storage: StorageName, most: number): Promise<readonly StoredRow[]> {
  return inDataFolder(storage, async (folder) => {
    const rows: StoredRow[] = [];
    for (let tasks = Math.min(10_000, most); tasks <= most; tasks *= 10) {
      // The tasks of the row before are in the file.
      const stored = storage === 'memory' ? 0 : (rows.at(-1)?.tasks ?? 0);
      const costs = await withServer({ storage, folder, stored, wanted: tasks }, async (server) => {
        const send = () => server.finish(QUESTION);
        const get = (number: number) => jsonOf(server.call('GetTask', { id: storedTaskId((number * 7919) % tasks) }));
        const list = () => jsonOf(server.call('ListTasks', { pageSize: PAGE_SIZE }));
        for (const one of [send, get, list]) await repeat(CALLS / 2, 16, one);
        const task = await costOf(server, CALLS, send);
        const { rss } = await server.usage();
        return { task, get: await costOf(server, CALLS, get), list: await costOf(server, CALLS / 4, list), rss };
      });
      const start = storage === 'memory' ? undefined : await startOn({ storage, folder });
      rows.push({ tasks, ...costs, start });
    }
    return rows;
  });
}

async function startOn(options: { readonly storage: StorageName; readonly folder: string }) {
  const begun = performance.now();
  return withServer(options, async (server) => {
    await jsonOf(server.call('SendMessage', prompted(QUESTION)));
    const passed = performance.now() - begun;
    return { passed, cpu: (await server.usage()).cpuMicros / 1000 };
  });
}
