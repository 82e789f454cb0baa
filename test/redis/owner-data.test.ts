import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { ownerDataContract } from '../contract/owner-data-contract.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { allValues } from './all-values.js';

const server = await RedisServer.start();
const cluster = await RedisCluster.start();
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

ownerDataContract('Redis', () => emptyServers(server.url, [server.url]));
ownerDataContract('Redis Cluster', async () => {
  const primaries = (await cluster.nodes()).filter(({ isPrimary }) => isPrimary);
  return emptyServers(
    cluster.url,
    primaries.map((node) => node.server.url),
  );
});

async function emptyServers(url: string, servers: readonly string[]) {
  for (const each of servers) {
    const client = new Redis(each);
    await client.flushall();
    client.disconnect();
  }
  return {
    open: () => RedisStorage.open({ url, clock: systemClock, ids: systemIds, logger: silentLogger }),
    contents: async () => (await Promise.all(servers.map(allValues))).join('\n'),
  };
}
