import { Random } from '../../support/random.js';
import type { History } from '../checker/history.js';
import { type ChaosDatabase, postgresDatabase, redisDatabase, sqliteDatabase } from './chaos-database.js';
import { Cluster, PUBLIC_URL } from './cluster.js';
import { faultOrder, faultsOf } from './faults.js';
import { HookReceiver } from './hook-receiver.js';
import { Load } from './load.js';
import { monotonic, pause, until } from './monotonic.js';
import { openStorage, readJournals, readLogs, readQueues } from './read-history.js';
import { Recorder } from './recorder.js';

const CLIENTS = 16;
const REPLICAS = 3;
/** Longest time from the last fault until everything has come to rest. */
const REST_MS = 120_000;

/** A run of the harness. */
export interface ChaosRun {
  readonly backend: string;
  readonly faults: number;
  /** For journals and files. */
  readonly folder: string;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

/** Runs the load and the faults, waits until everything is at rest, stops the replicas, and reads what there is. */
export async function runChaos(run: ChaosRun): Promise<History> {
  await using database = await databaseOf(run);
  await using hook = await HookReceiver.open();
  const { folder, seed, tell } = run;
  // The load makes as many choices as it has time for. The choices of the faults do not depend on them.
  const random = new Random(seed);
  const recorder = new Recorder();
  const isFile = database.port === undefined;
  await using cluster = await Cluster.start(database, { count: isFile ? 1 : REPLICAS, folder, random });
  const thinkMs = run.faults > 50 ? 1_000 : 300;
  const load = await Load.open({
    url: PUBLIC_URL,
    fetch: cluster.fetch,
    recorder,
    random: new Random(seed + 1),
    webhook: hook.url,
    thinkMs,
  });
  const loading = load.run(CLIENTS);
  const faults = faultsOf(database);
  let number = 0;
  const began = monotonic();
  for (const name of faultOrder([...faults.keys()], { count: run.faults, random })) {
    number += 1;
    await pause(300 + random.below(1_200));
    const at = monotonic();
    await faults.get(name)?.({ cluster, load, random });
    tell(
      `${number}/${run.faults} ${name}: at ${at.toFixed(0)}, ${(monotonic() - at).toFixed(0)} ms, ${recorder.calls.length} calls`,
    );
  }
  load.stop();
  hook.steady();
  tell(`faults took ${((monotonic() - began) / 1000).toFixed(0)} s`);
  await loading;
  await atRest(load, () => hook.arrivals.length);
  const restAt = monotonic();
  for (const replica of cluster.replicas) await replica.stop();
  const storage = await openStorage(database.url);
  try {
    const [logs, queues, journals] = [
      await readLogs(storage),
      await readQueues(storage),
      await readJournals(folder, cluster.lives),
    ];
    return { logs, queues, ...journals, calls: recorder.calls, arrivals: hook.arrivals, restAt };
  } finally {
    await storage.close();
  }
}

async function databaseOf({ backend, folder }: ChaosRun): Promise<ChaosDatabase> {
  if (backend === 'sqlite') return sqliteDatabase(folder);
  if (backend === 'postgres') return postgresDatabase();
  if (backend === 'redis') return redisDatabase();
  throw new Error(`there is no chaos on ${backend}`);
}

/** Until no task is at work and no notification has come for a while. The checker finds what is not at rest then. */
async function atRest(load: Load, arrivals: () => number): Promise<void> {
  const states = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const;
  let seen = -1;
  let since = 0;
  await until(
    async () => {
      const counts = await Promise.all(states.map((state) => load.countOf(state).catch(() => 1)));
      const now = arrivals();
      since = now === seen && counts.every((count) => count === 0) ? since + 1 : 0;
      seen = now;
      return since > 20;
    },
    { limitMs: REST_MS, what: () => 'not at rest' },
  ).catch(() => {});
}
