import { type CostReader, costEach, type DatabaseFigures } from './database-cost.js';
import { type ReplicaClient, said } from './replica-client.js';
import type { Replicas } from './replicas.js';
import { quantile } from './statistics.js';

/** The result of a steady load. */
export interface Rate {
  /** Tasks or events in a second, as clients got them. */
  readonly perSecond: number;
  /** Of a whole call, in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Cost in the database of one task or event. */
  readonly each: DatabaseFigures;
}

/** Load on replicas. */
export interface LoadOptions {
  readonly replicas: Replicas;
  readonly cost: CostReader;
  readonly clients: number;
  readonly seconds: number;
}

/** Events of one stream. */
const STREAMED = 200;
const WARM_UP_MS = 1_000;

/** Blocking senders, spread over all replicas. */
export function taskRate(options: LoadOptions): Promise<Rate> {
  return loaded(options, async (client) => {
    await client.call('SendMessage', said('task'));
    return 1;
  });
}

/** Streaming senders whose agents write events as fast as the log takes them. Fewer clients: each keeps writing. */
export function eventRate(options: LoadOptions): Promise<Rate> {
  return loaded(options, async (client) => {
    let events = 0;
    for await (const _ of client.stream('SendStreamingMessage', said(`stream ${STREAMED}`))) events += 1;
    if (events < STREAMED) throw new Error(`A stream had ${events} events`);
    return events;
  });
}

async function loaded(
  { replicas, cost, clients, seconds }: LoadOptions,
  call: (client: ReplicaClient) => Promise<number>,
): Promise<Rate> {
  let counted = 0;
  let times: number[] = [];
  let isOver = false;
  const loops = Array.from({ length: clients }, async (_, index) => {
    const { client } = replicas.at(index);
    while (!isOver) {
      const begun = performance.now();
      // Awaited before the addition, because other loops change the sum meanwhile.
      const count = await call(client);
      counted += count;
      times.push(performance.now() - begun);
    }
  });
  // A loop that fails ends the run.
  const failed = Promise.all(loops).then(() => undefined);
  await Promise.race([pause(WARM_UP_MS), failed]);
  const before = await cost.read();
  const [countedBefore, begun] = [counted, performance.now()];
  times = [];
  await Promise.race([pause(seconds * 1_000), failed]);
  const count = counted - countedBefore;
  const elapsed = performance.now() - begun;
  const measured = times;
  const after = await cost.read();
  isOver = true;
  await failed;
  return {
    perSecond: (count * 1_000) / elapsed,
    p50: quantile(measured, 0.5),
    p99: quantile(measured, 0.99),
    each: costEach(before, after, Math.max(1, count)),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
