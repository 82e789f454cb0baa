// Our server with stored tasks, an agent whose prompt selects its work, and a sweep of all finished tasks.
import { createA2AServer } from 'parley-a2a/node';
import { MemoryStorage, systemClock } from 'parley-a2a/server';
import { PROBED } from '../subjects/parley-agents.js';
import { storageNamed, storeTasks } from '../subjects/parley-storage.js';
import { ready } from '../subjects/subject-host.js';

const [, , storageName, folder = '', stored, wanted] = process.argv;
// Its defaults keep 100,000 tasks and 256 MiB.
const bounds = { maxTasks: Number(wanted) + 1_000_000, maxBytes: 2 ** 33 };
const storage =
  storageName === 'memory'
    ? new MemoryStorage({ clock: systemClock, ...bounds })
    : await storageNamed(storageName, folder);
await storeTasks(storage, { from: Number(stored), to: Number(wanted) });
const concurrency = { streamsPerCaller: 100_000, streams: 100_000 };
const server = createA2AServer({ agent: PROBED, storage, concurrency });
const { url } = await server.listen(0);
ready(Number(new URL(url).port), { settle: sweep });

/** Deletes what retention would delete later. */
async function sweep(): Promise<void> {
  while ((await storage.sweep({ taskRetentionMs: -1, eventLogMs: -1, limit: 500 })).more);
}
