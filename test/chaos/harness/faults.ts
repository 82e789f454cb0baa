import type { Random } from '../../../packages/parley/test/random.js';
import type { Cluster, Replica } from './cluster.js';
import type { Load } from './load.js';
import { pause } from './monotonic.js';

/** A lease of the replicas, as in replica.mjs. */
const LEASE_MS = 2_000;
const MINUTE_MS = 60_000;

/** The parts of a run that faults change. */
export interface FaultWorld {
  readonly cluster: Cluster;
  readonly load: Load;
  readonly random: Random;
}

/** A fault. It is repaired when its promise resolves. */
export type Fault = (world: FaultWorld) => Promise<void>;

const killReplica: Fault = async ({ cluster, random }) => {
  const replica = cluster.pick();
  await replica.kill();
  await pause(random.below(2 * LEASE_MS));
  await replica.start();
};

const freezeReplica: Fault = async ({ cluster, random }) => {
  const replica = cluster.pick();
  replica.freeze();
  await pause(LEASE_MS + 500 + random.below(LEASE_MS));
  replica.thaw();
};

const cut: Fault = async ({ cluster, random }) => {
  const { proxy } = cluster.pick();
  proxy?.cut();
  await pause(200 + random.below(2 * LEASE_MS));
  proxy?.restore();
};

const cutFromAll: Fault = async ({ cluster, random }) => {
  for (const { proxy } of cluster.replicas) proxy?.cut();
  await pause(200 + random.below(2 * LEASE_MS));
  for (const { proxy } of cluster.replicas) proxy?.restore();
};

/** Delays requests until other replicas have taken over the turns. */
const delayDatabase: Fault = async ({ cluster, random }) => {
  const { proxy } = cluster.pick();
  proxy?.hold();
  await pause(LEASE_MS + random.below(LEASE_MS));
  proxy?.release();
};

function answerLost(operation: 'accept' | 'append' | 'claim'): Fault {
  return async ({ cluster }) => {
    const pattern = cluster.database.requests?.[operation];
    if (pattern === undefined) return;
    // For all replicas at once, because some may be idle.
    await Promise.all(cluster.replicas.map(({ proxy }) => proxy?.loseAnswer(pattern, LEASE_MS)));
  };
}

/** Cancels behind claims: by accept, and by takeover from a process that was killed. */
const canceledBehindClaim: Fault = async ({ cluster, load, random }) => {
  const replica = cluster.pick();
  const canceling = load.cancelAtOnce(8);
  await pause(random.below(100));
  await replica.kill();
  await pause(LEASE_MS - 200);
  const more = load.cancelAtOnce(8);
  await replica.start();
  await Promise.all([canceling, more]);
};

const databaseKilled: Fault = async ({ cluster: { database }, random }) => {
  await database.kill?.();
  await pause(random.below(2 * LEASE_MS));
  await database.startAgain?.();
};

const databaseFrozen: Fault = async ({ cluster: { database }, random }) => {
  database.freeze?.();
  await pause(500 + random.below(2 * LEASE_MS));
  database.thaw?.();
};

const databaseFull: Fault = async ({ cluster: { database }, random }) => {
  await database.fill?.();
  await pause(500 + random.below(2 * LEASE_MS));
  await database.free?.();
};

const clockShifted: Fault = async ({ cluster, random }) => {
  const replica = cluster.pick();
  await stopReplica(replica);
  await replica.start((random.oneIn(2) ? 1 : -1) * (1 + random.below(10)) * MINUTE_MS);
};

const rollReplicas: Fault = async ({ cluster }) => {
  for (const replica of cluster.replicas) {
    await stopReplica(replica);
    await replica.start();
  }
};

async function stopReplica(replica: Replica): Promise<void> {
  // Some balancers detect the stop of a replica at once, others do not.
  replica.isUp = replica.index % 2 === 0;
  await replica.stop();
}

const ALWAYS: Readonly<Record<string, Fault>> = {
  'replica killed': killReplica,
  'replica frozen past its lease': freezeReplica,
  'clock of a replica shifted': clockShifted,
  'cancel behind a claim': canceledBehindClaim,
  'rolling restart': rollReplicas,
};

const OVER_TCP: Readonly<Record<string, Fault>> = {
  'connection to the database cut': cut,
  'all connections to the database cut': cutFromAll,
  'requests to the database delayed past the lease': delayDatabase,
  'database killed': databaseKilled,
  'database frozen': databaseFrozen,
};

/** Returns the possible faults of a database, by name. */
export function faultsOf({ port, requests, fill, faults = {} }: Cluster['database']): ReadonlyMap<string, Fault> {
  const own = Object.entries(faults).map(([name, fault]) => [name, ({ random }: FaultWorld) => fault(random)] as const);
  return new Map(
    Object.entries({
      ...ALWAYS,
      ...(port !== undefined && OVER_TCP),
      ...(requests && {
        'answer of an accept lost': answerLost('accept'),
        'answer of an append lost': answerLost('append'),
        'answer of a claim lost': answerLost('claim'),
      }),
      ...(fill && { 'database full': databaseFull }),
      ...Object.fromEntries(own),
    }),
  );
}

/** Yields `count` faults in random order. Each fault comes once before any is repeated. */
export function* faultOrder(
  names: readonly string[],
  { count, random }: { count: number; random: Random },
): Iterable<string> {
  let left: string[] = [];
  for (let at = 0; at < count; at += 1) {
    if (left.length === 0) left = [...names];
    const [name] = left.splice(random.below(left.length), 1);
    if (name !== undefined) yield name;
  }
}
