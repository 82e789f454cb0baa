import type { Random } from '../../../packages/parley/test/random.js';
import { type ClusterNode, RedisCluster } from '../../support/servers/redis-cluster.js';
import { type ChaosDatabase, REDIS_SETTINGS } from './chaos-database.js';
import { pause } from './monotonic.js';

/** Number of slots that one move gives to another primary: about 5 partitions of 256. */
const SLOTS = 300;
/** Longest outage of a server, in ms. The other servers detect it after one second. */
const AWAY_MS = 4_000;

/**
 * A Redis Cluster of three primaries, each with a replica, and each with all its writes on disk. No replica becomes
 * primary by itself: Redis copies writes later, so that such a failover may lose writes that the storage has shown. A
 * primary that was killed comes back with its own file. An orderly failover loses nothing.
 */
export async function redisClusterDatabase(): Promise<ChaosDatabase> {
  const cluster = await RedisCluster.start(...REDIS_SETTINGS, '--cluster-replica-no-failover', 'yes');
  const pick = async (random: Random, isPrimary: boolean): Promise<ClusterNode> => {
    const nodes = (await cluster.nodes()).filter((node) => node.isPrimary === isPrimary);
    return random.pick(nodes.sort((one, other) => one.server.port - other.server.port));
  };
  const killServer = (isPrimary: boolean) => async (random: Random) => {
    const { server } = await pick(random, isPrimary);
    await server.kill();
    await pause(random.below(AWAY_MS));
    await server.startAgain();
    await cluster.isWhole();
  };
  const freezeServer = (isPrimary: boolean) => async (random: Random) => {
    const { server } = await pick(random, isPrimary);
    server.freeze();
    await pause(500 + random.below(AWAY_MS));
    server.thaw();
    await cluster.isWhole();
  };
  return {
    backend: 'redis-cluster',
    url: cluster.url,
    urlThrough: () => cluster.url,
    faults: {
      'primary of the cluster killed': killServer(true),
      'primary of the cluster frozen': freezeServer(true),
      'replica server of the cluster killed': killServer(false),
      'replica server of the cluster frozen': freezeServer(false),
      'orderly failover of a primary': async (random) => {
        await cluster.failOver(await pick(random, false));
        await cluster.isWhole();
      },
      'slots of the cluster moved': async (random) => {
        const from = await pick(random, true);
        const others = (await cluster.nodes()).filter(({ isPrimary, id }) => isPrimary && id !== from.id);
        await cluster.reshard(from, random.pick(others), SLOTS);
        await cluster.isWhole();
      },
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
