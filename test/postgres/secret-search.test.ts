import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { secretSearchContract } from '../contract/secret-search-contract.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { rowsOf } from './all-rows.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
});
afterAll(() => server[Symbol.asyncDispose]());

secretSearchContract('PostgreSQL', async () => {
  const url = await server.newDatabase();
  return {
    open: () => PostgresStorage.open({ url, durability: 'process', clock: systemClock, logger: silentLogger }),
    contents: () => rowsOf(url),
  };
});
