import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { testWorkers } from '../support/workers.js';
import { CountingServer, expectWhole } from '../workers/counting-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('parley serve --workers on PostgreSQL', () => {
  testWorkers(() => server.newDatabase());
});

it('a program whose server has workers starts no storage process on PostgreSQL', { timeout: 60_000 }, async () => {
  await using counting = await CountingServer.startListening(await server.newDatabase());
  expect(await counting.bothAnswer()).toEqual(new Set(counting.pids.workers));
  expect(counting.pids.storage).toBeUndefined();
  await expectWhole(counting, await counting.count(3), 3);
  expect((await counting.running.stop()).code).toBe(0);
});
