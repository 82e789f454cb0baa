// Our subject: createA2AServer with its defaults, and the smallest agent that does what the workload asks.
import { createA2AServer } from 'parley-a2a/node';
import { WORKLOADS } from '../workloads.js';
import { AGENTS } from './parley-agents.js';
import { storageNamed, storeTasks } from './parley-storage.js';
import { ready, workloadArgument } from './subject-host.js';

const [, , , storageName, folder = ''] = process.argv;
const { kind, tasks } = WORKLOADS[workloadArgument()];
const storage = await storageNamed(storageName, folder);
await storeTasks(storage, { from: 0, to: tasks });
const server = createA2AServer({ agent: AGENTS[kind], storage });
const { url } = await server.listen(0);
ready(Number(new URL(url).port));
