import { silentLogger } from 'parley-a2a';
import { openStorage } from 'parley-a2a/storage';
import { postgresBackend } from 'parley-a2a-postgres';
import { redisBackend } from 'parley-a2a-redis';
import { storedTask, storedTaskId } from '../stored-tasks.js';
import { type CostReader, costEach, type DatabaseFigures } from './database-cost.js';
import { type Rate, taskRate } from './measure-rates.js';
import { said } from './replica-client.js';
import type { Replicas } from './replicas.js';
import { quantile } from './statistics.js';

/** The cost of one event of a task with `events` events. */
export interface EventCost {
  readonly events: number;
  readonly each: DatabaseFigures;
  /** From the agent to the end of the stream, by event, in µs. */
  readonly micros: number;
}

/** The cost of calls while the store has `tasks` tasks. */
export interface TaskCost {
  readonly tasks: number;
  readonly rate: Rate;
  /** Medians in ms. */
  readonly getMs: number;
  readonly listMs: number;
}

/** Anonymous callers of the agent of the replicas. */
const SCOPE = { agent: '/', tenant: '', owner: null };
const AT_ONCE = 1_000;
const READS = 200;

/** One task after the other with 10 times more events each, up to `most`. */
export async function eventCosts(replicas: Replicas, cost: CostReader, most: number): Promise<readonly EventCost[]> {
  const costs: EventCost[] = [];
  for (let events = 10; events <= most; events *= 10) {
    // Short tasks are repeated, so that the figures of the database are larger than their noise.
    const repeats = Math.max(1, Math.floor(1_000 / events));
    const before = await cost.read();
    const begun = performance.now();
    for (let repeat = 0; repeat < repeats; repeat++) await streamed(replicas, events);
    const micros = ((performance.now() - begun) * 1_000) / (events * repeats);
    costs.push({ events, micros, each: costEach(before, await cost.read(), events * repeats) });
  }
  return costs;
}

async function streamed(replicas: Replicas, events: number): Promise<void> {
  let count = 0;
  for await (const _ of replicas.at(0).client.stream('SendStreamingMessage', said(`stream ${events}`))) count += 1;
  if (count < events) throw new Error(`A stream of ${events} events ended after ${count}`);
}

/** The same calls while the store grows 10 times each, up to `most` tasks. The storage port fills it. */
export async function taskCosts(
  replicas: Replicas,
  { cost, databaseUrl, most }: { readonly cost: CostReader; readonly databaseUrl: string; readonly most: number },
): Promise<readonly TaskCost[]> {
  const storage = await openStorage(databaseUrl, { logger: silentLogger, backends: [postgresBackend, redisBackend] });
  try {
    const costs: TaskCost[] = [];
    let stored = 0;
    for (let tasks = 1_000; tasks <= most; tasks *= 10) {
      for (; stored < tasks; stored += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => storage.create(SCOPE, storedTask(stored + at))));
      }
      const rate = await taskRate({ replicas, cost, clients: 16, seconds: 3 });
      const { client } = replicas.at(0);
      const getMs = await medianMs((read) => client.call('GetTask', { id: storedTaskId((read * 7_919) % tasks) }));
      const listMs = await medianMs(() => client.call('ListTasks', { pageSize: 50 }));
      costs.push({ tasks, rate, getMs, listMs });
    }
    return costs;
  } finally {
    await storage.close();
  }
}

async function medianMs(call: (read: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < READS; read++) {
    const begun = performance.now();
    await call(read);
    times.push(performance.now() - begun);
  }
  return quantile(times, 0.5);
}
