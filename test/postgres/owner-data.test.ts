import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { ownerDataContract } from '../contract/owner-data-contract.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { rowsOf } from './all-rows.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
});
afterAll(() => server[Symbol.asyncDispose]());

ownerDataContract('PostgreSQL', () => newDatabase());
ownerDataContract('PostgreSQL with 4 partitions', () => newDatabase({ partitions: 4 }));

async function newDatabase(options: { readonly partitions?: number } = {}) {
  const url = await server.newDatabase();
  return {
    open: () =>
      PostgresStorage.open({ url, durability: 'process', clock: systemClock, logger: silentLogger, ...options }),
    contents: () => rowsOf(url),
  };
}
