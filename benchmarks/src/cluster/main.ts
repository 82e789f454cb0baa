import { writeFileSync } from 'node:fs';
import { thisMachine } from '../report/machine.js';
import { type Backend, type ClusterOptions, readClusterOptions, USAGE } from './cluster-options.js';
import { growthTables, latencyTable, rateTable } from './cluster-tables.js';
import { type CostReader, costReader } from './database-cost.js';
import { type DatabaseServer, databaseServer } from './database-server.js';
import { type EventCost, eventCosts, type TaskCost, taskCosts } from './measure-growth.js';
import { cancelLatency, type FanOut, fanOut, type Latency, takeover } from './measure-latencies.js';
import { eventRate, type Rate, taskRate } from './measure-rates.js';
import { Replicas } from './replicas.js';

/** All measurements with one number of replicas in one round. */
export interface RoundFigures {
  readonly backend: Backend;
  readonly replicas: number;
  readonly tasks?: Rate;
  readonly events?: Rate;
  readonly cancel?: Latency;
  readonly fanOut?: FanOut;
  /** Absent with one replica. */
  readonly takeoverMs?: number;
}

/** The measurements of a growing task and of a growing store. */
export interface GrowthFigures {
  readonly backend: Backend;
  readonly events?: readonly EventCost[];
  readonly tasks?: readonly TaskCost[];
}

const note = (text: string) => process.stderr.write(`${text}\n`);

async function main(options: ClusterOptions): Promise<void> {
  const rounds: RoundFigures[] = [];
  const growth: GrowthFigures[] = [];
  const titles: string[] = [];
  for (const backend of options.backends) {
    await using server = await databaseServer(backend, options.urls[backend]);
    await using cost = await costReader(backend, server.url);
    titles.push(`${backend}: ${server.title}`);
    note(titles.at(-1) ?? '');
    for (let round = 1; round <= options.rounds; round++) {
      // Interleaved, so that a slow minute of the machine affects all numbers of replicas.
      for (const replicas of options.replicas) {
        note(`round ${round} of ${options.rounds}: ${replicas} replicas`);
        rounds.push({ backend, replicas, ...(await measured(replicas, { options, server, cost })) });
      }
    }
    growth.push({ backend, ...(await grown({ options, server, cost })) });
  }
  const machine = thisMachine();
  const { cpu, cores, memoryGb, system, versions } = machine;
  const lines = [
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node.js ${versions.node}. Database, replicas and clients share it.`,
    `${titles.join('; ')}. Medians of ${options.rounds} rounds of ${options.seconds} s, ${options.clients} clients.`,
    '',
    rateTable(rounds),
    '',
    latencyTable(rounds),
    '',
    ...growthTables(growth),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ machine, titles, rounds, growth }, null, 1));
}

interface Run {
  readonly options: ClusterOptions;
  readonly server: DatabaseServer;
  readonly cost: CostReader;
}

async function measured(count: number, { options, server, cost }: Run) {
  const { parts, clients, seconds } = options;
  await using replicas = await Replicas.start(count, server.url);
  const load = { replicas, cost, clients, seconds };
  return {
    ...(parts.includes('rates') && { tasks: await taskRate(load), events: await eventRate(load) }),
    ...(parts.includes('latencies') && {
      cancel: await cancelLatency(replicas),
      fanOut: await fanOut(replicas),
      // Measured last, because it kills a replica.
      ...(count > 1 && { takeoverMs: await takeover(replicas) }),
    }),
  };
}

async function grown({ options, server, cost }: Run) {
  const { parts, events, tasks } = options;
  const isAsked = parts.includes('event-cost') || parts.includes('task-cost');
  if (!isAsked) return {};
  note('growing a task and the store');
  await using replicas = await Replicas.start(1, server.url);
  return {
    ...(parts.includes('event-cost') && { events: await eventCosts(replicas, cost, events) }),
    ...(parts.includes('task-cost') && {
      tasks: await taskCosts(replicas, { cost, databaseUrl: server.url, most: tasks }),
    }),
  };
}

const options = readClusterOptions(process.argv.slice(2));
if (options === undefined) process.stdout.write(USAGE);
else await main(options);
