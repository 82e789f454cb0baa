import { afterEach } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { resealContract } from '../contract/reseal-contract.js';
import { RedisServer } from '../support/servers/redis-server.js';

let server: RedisServer | undefined;
afterEach(() => server?.[Symbol.asyncDispose]());

resealContract('Redis', async () => {
  server = await RedisServer.start();
  const { url } = server;
  return { url, open: () => RedisStorage.open({ url, clock: systemClock, ids: systemIds, logger: silentLogger }) };
});
