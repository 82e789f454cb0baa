// Our subject: createA2AServer with its defaults, and the smallest agent that does what the workload asks.
import { join } from 'node:path';
import { createA2AServer } from 'parley-a2a/node';
import { type AgentExecutor, agent, type Storage } from 'parley-a2a/server';
import { CHUNKS, chunkText, nextTurn, type WorkloadName } from '../workloads.js';
import { ready, workloadArgument } from './subject-host.js';

const echo: AgentExecutor = {
  replies: 'either',
  execute: (context, events) => events.message(context.text),
};

const AGENTS: { readonly [Name in WorkloadName]: AgentExecutor } = {
  call: echo,
  task: agent((prompt) => prompt),
  stream: agent(async function* () {
    for (let index = 0; index < CHUNKS; index++) {
      await nextTurn();
      yield chunkText(index);
    }
  }),
};

const [, , , storageName, folder = ''] = process.argv;
const storage = await openStorageNamed(storageName);
const server = createA2AServer({ agent: AGENTS[workloadArgument()], ...(storage && { storage }) });
const { url } = await server.listen(0);
ready(Number(new URL(url).port));

async function openStorageNamed(name: string | undefined): Promise<Storage | undefined> {
  if (name === 'memory') return undefined;
  const { openStorage } = await import('parley-a2a/storage');
  const file = `sqlite:${join(folder, 'bench.db')}`;
  return openStorage(name === 'sqlite-process' ? `${file}?durability=process` : file);
}
