import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { RedisKeys } from '../../packages/redis/src/storage/redis-keys.js';
import { ALICE } from '../contract/storage/task-play.js';
import { unreadableContract } from '../contract/storage/unreadable.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

const server = await RedisServer.start();
const redis = new Redis(server.url);
afterAll(async () => {
  await redis.quit();
  await server[Symbol.asyncDispose]();
});
const storages = new RedisStorages(server.url);

unreadableContract('Redis', async (clock, logger) => {
  const storage = await storages.open(clock, { logger });
  const keys = new RedisKeys(storages.prefix);
  return {
    storage,
    corrupt: async (id, where, text) => {
      const { key, base, name } = keys.ofTask({ scope: ALICE, id });
      if (where === 'status') await redis.hset(key, 's', text);
      else if (where === 'history') await redis.hset(key, 'yh', text);
      else if (where === 'config') await redis.hset(`${base}conf:${name}`, '"hook"', text);
      else await redis.lset(`${base}log:${name}`, where === 'record 1' ? 0 : 1, `1\n${text}`);
    },
  };
});
