import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { secretSearchContract } from '../contract/secret-search-contract.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { allValues } from './all-values.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());
const { url } = server;

secretSearchContract('Redis', async () => {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
  return {
    open: () => RedisStorage.open({ url, clock: systemClock, ids: systemIds, logger: silentLogger }),
    contents: () => allValues(url),
  };
});
