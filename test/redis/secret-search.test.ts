import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { RedisStorage } from '../../packages/parley/src/store/redis/redis-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { secretSearchContract } from '../contract/secret-search-contract.js';
import { RedisServer } from '../support/servers/redis-server.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());
const { url } = server;

secretSearchContract('Redis', async () => {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
  return {
    open: () => RedisStorage.open({ url, clock: systemClock, ids: systemIds, logger: silentLogger }),
    contents: allValues,
  };
});

/** The command that reads a whole value, by its type. */
const READS: Readonly<Record<string, (client: Redis, key: string) => Promise<unknown>>> = {
  string: (client, key) => client.get(key),
  hash: (client, key) => client.hgetall(key),
  list: (client, key) => client.lrange(key, 0, -1),
  set: (client, key) => client.smembers(key),
  zset: (client, key) => client.call('ZRANGE', key, '0', '-1', 'WITHSCORES'),
  stream: (client, key) => client.xrange(key, '-', '+'),
};

/** The names and values of all keys. */
async function allValues(): Promise<string> {
  const client = new Redis(url);
  try {
    const keys = await client.keys('*');
    const texts = keys.map(async (key) => {
      const type = await client.type(key);
      // A value may expire between two commands.
      if (type === 'none') return '';
      const read = READS[type];
      if (read === undefined) throw new Error(`The search cannot read a ${type}`);
      return `${key} ${JSON.stringify(await read(client, key))}`;
    });
    return (await Promise.all(texts)).join('\n');
  } finally {
    client.disconnect();
  }
}
