import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { copyStorage } from '../../packages/parley/src/exports/storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { testCopy } from '../copy/live-log.js';
import { BACKENDS } from '../support/backends.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';

const files = new SqliteFiles();
const server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
const cluster = await RedisCluster.start();
const redis = new Redis(server.url);
afterAll(async () => {
  files.remove();
  await redis.quit();
  await server[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const sqlite = async () => {
  const path = files.fresh();
  return { url: `sqlite:${path}`, open: () => files.open(systemClock, { path }) };
};
let opened = 0;
const end = (url: string, forgetServers: (prefix: string) => Promise<unknown>) => async () => {
  opened += 1;
  const prefix = `copy-${opened}:`;
  return {
    url: `${url}?prefix=${prefix}`,
    open: () => openRedisStorage({ url, prefix, logger: silentLogger }),
    forgetServers: async () => void (await forgetServers(prefix)),
  };
};
const single = end(server.url, (prefix) => redis.del(`${prefix}{nodes}`));
const clustered = end(cluster.url, async (prefix) => {
  const nodes = new Redis.Cluster(cluster.servers.map(({ port }) => ({ host: '127.0.0.1', port })));
  await nodes.del(`${prefix}{nodes}`);
  nodes.disconnect();
});

describe('a copy from SQLite to Redis', () => {
  testCopy({ source: sqlite, target: single });
});

describe('a copy from SQLite to a Redis Cluster', () => {
  testCopy({ source: sqlite, target: clustered });
});

describe('a copy to Redis', () => {
  it('is refused while a server uses the target, and Redis cannot be the source', async () => {
    const [source, target] = [await sqlite(), await single()];
    await (await source.open()).close();
    const storage = await target.open();
    await storage.heartbeat({ node: 'a server', agents: ['/'], runningTurns: 0 });
    await expect(copyStorage({ from: source.url, to: target.url, backends: BACKENDS })).rejects.toThrow(
      /A server has used .* stop it/,
    );
    await expect(copyStorage({ from: target.url, to: source.url, backends: BACKENDS })).rejects.toThrow(
      'redis: cannot be the source',
    );
    await storage.close();
  });
});
