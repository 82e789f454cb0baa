// Our subject under the probes: createA2AServer with its defaults.
import { createA2AServer } from 'parley-a2a/node';
import { PROBED } from './parley-agents.js';
import { storageNamed } from './parley-storage.js';
import { ready } from './subject-host.js';

const [, , , storageName, folder = ''] = process.argv;
const storage = await storageNamed(storageName, folder);
const server = createA2AServer({ agent: PROBED, storage, push: { allow: ['127.0.0.1'] } });
const { url } = await server.listen(0);
ready(Number(new URL(url).port), { settle: dropTails });

/** Deletes event logs, as retention does an hour after the end of a task. */
async function dropTails(): Promise<void> {
  const keepTasks = Number.MAX_SAFE_INTEGER;
  while ((await storage.sweep({ taskRetentionMs: keepTasks, eventLogMs: -1, limit: 500 })).more);
}
