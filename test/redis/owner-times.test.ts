import { afterAll } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { ownerTimes } from '../matrix/owner-times.js';
import { RedisServer } from '../support/servers/redis-server.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());

ownerTimes(
  'Redis',
  () => RedisStorage.open({ url: server.url, clock: systemClock, ids: systemIds, logger: silentLogger }),
  { isSlow: true },
);
