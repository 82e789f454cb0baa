import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { resealContract } from '../contract/reseal-contract.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
});
afterAll(() => server[Symbol.asyncDispose]());

resealContract('PostgreSQL', async () => {
  const url = await server.newDatabase();
  return {
    url: `${url}?durability=process`,
    open: () => PostgresStorage.open({ url, durability: 'process', clock: systemClock, logger: silentLogger }),
  };
});
