// Our subject: createA2AServer with its defaults, and the smallest agent that does what the workload asks.
import { createA2AServer } from 'parley-a2a/node';
import { storedTask } from '../stored-tasks.js';
import { WORKLOADS } from '../workloads.js';
import { AGENTS } from './parley-agents.js';
import { storageNamed } from './parley-storage.js';
import { ready, workloadArgument } from './subject-host.js';

const AT_ONCE = 1000;

const [, , , storageName, folder = ''] = process.argv;
const { kind, tasks } = WORKLOADS[workloadArgument()];
const storage = await storageNamed(storageName, folder);
await storeTasks();
const server = createA2AServer({ agent: AGENTS[kind], storage });
const { url } = await server.listen(0);
ready(Number(new URL(url).port));

/** The tasks of the anonymous caller, by the storage port: as many as it takes at once share a commit. */
async function storeTasks(): Promise<void> {
  const scope = { agent: '/', tenant: '', owner: null };
  for (let index = 0; index < tasks; index += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => storage.create(scope, storedTask(index + at))));
  }
}
