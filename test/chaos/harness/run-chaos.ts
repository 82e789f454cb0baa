import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { Random } from '../../../packages/parley/test/random.js';
import type { History } from '../checker/history.js';
import { type ChaosDatabase, postgresDatabase, redisDatabase, sqliteDatabase } from './chaos-database.js';
import { Cluster, PUBLIC_URL } from './cluster.js';
import { faultOrder, faultsOf } from './faults.js';
import { HookReceiver } from './hook-receiver.js';
import { Load } from './load.js';
import { monotonic, pause, until } from './monotonic.js';
import { openStorage, readJournals, readLogs, readQueues } from './read-history.js';
import { Recorder } from './recorder.js';
import { redisClusterDatabase } from './redis-cluster-database.js';

const CLIENTS = 16;
const REPLICAS = 3;
/** Longest time in ms from the last fault until nothing changes. */
const REST_MS = 120_000;
/** Number of checks without a change after which the run is at rest. */
const QUIET_LOOKS = 15;

/** A run of the harness. */
export interface ChaosRun {
  readonly backend: string;
  readonly faults: number;
  /** For journals and files. */
  readonly folder: string;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

/** Runs the load and the faults, waits until nothing changes, stops the replicas, and reads the storage. */
export async function runChaos(run: ChaosRun): Promise<History> {
  await using database = await databaseOf(run);
  await using hook = await HookReceiver.open();
  const { folder, seed, tell } = run;
  // Faults have their own random numbers, because the load makes as many choices as it has time for.
  const random = new Random(seed);
  const recorder = new Recorder();
  const isFile = database.isFile === true;
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
  // A file belongs to the process of its replica until that ends.
  await using watched = isFile ? undefined : await openDatabase(database.url);
  await atRest(load, async () => {
    const pending = watched === undefined ? [] : await readQueues(watched.storage, 'pending');
    return `${hook.arrivals.length} ${pending.length === 0}`;
  });
  const restAt = monotonic();
  for (const replica of cluster.replicas) await replica.stop();
  await using read = await openDatabase(database.url);
  const { storage } = read;
  const [logs, queues] = [await readLogs(storage), await readQueues(storage)];
  const journals = await readJournals(folder, cluster.lives);
  return { logs, queues, ...journals, calls: recorder.calls, arrivals: hook.arrivals, restAt };
}

async function openDatabase(url: string): Promise<{ readonly storage: TaskStorage } & AsyncDisposable> {
  const storage = await openStorage(url);
  return { storage, [Symbol.asyncDispose]: () => storage.close() };
}

async function databaseOf({ backend, folder }: ChaosRun): Promise<ChaosDatabase> {
  if (backend === 'sqlite') return sqliteDatabase(folder);
  if (backend === 'postgres') return postgresDatabase();
  if (backend === 'postgres-partitioned') return postgresDatabase({ partitions: 16 });
  if (backend === 'postgres-pooled') return postgresDatabase({ pooled: true });
  if (backend === 'redis') return redisDatabase();
  if (backend === 'redis-cluster') return redisClusterDatabase();
  throw new Error(`there is no chaos on ${backend}`);
}

/** Resolves once no task works, and no notification is pending or arrives, or after a time limit. */
async function atRest(load: Load, delivered: () => Promise<string>): Promise<void> {
  const states = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const;
  let seen = '';
  let quiet = 0;
  await until(
    async () => {
      const counts = await Promise.all(states.map((state) => load.countOf(state).catch(() => 1)));
      const now = await delivered().catch(() => '');
      quiet = now === seen && !now.endsWith('false') && counts.every((count) => count === 0) ? quiet + 1 : 0;
      seen = now;
      return quiet > QUIET_LOOKS;
    },
    { limitMs: REST_MS, what: () => 'not at rest' },
  ).catch(() => {});
}
