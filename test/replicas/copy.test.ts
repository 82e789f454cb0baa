import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openPostgresStorage } from '../../packages/postgres/src/index.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { testCopy } from '../copy/live-log.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisServer } from '../support/servers/redis-server.js';

let postgres: PostgresServer;
let redis: RedisServer;
let copies = 0;
beforeAll(async () => {
  postgres = await PostgresServer.start();
  redis = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

const source = async () => {
  const url = await postgres.newDatabase();
  return {
    url,
    open: () => openPostgresStorage({ url, logger: silentLogger }),
    forgetServers: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('DELETE FROM parley.node');
      await client.end();
    },
  };
};
const target = async () => {
  copies += 1;
  const prefix = `copy-${copies}:`;
  const url = `${redis.url}?prefix=${prefix}`;
  return {
    url,
    open: () => openRedisStorage({ url, logger: silentLogger }),
    forgetServers: async () => {
      const client = new Redis(redis.url);
      await client.del(`${prefix}{nodes}`);
      client.disconnect();
    },
  };
};

describe('a copy from PostgreSQL to Redis', () => {
  testCopy({ source, target });
});
