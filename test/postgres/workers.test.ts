import { afterAll, beforeAll, describe } from 'vitest';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { testWorkers } from '../support/workers.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('parley serve --workers on PostgreSQL', () => {
  testWorkers(() => server.newDatabase());
});
