import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisServer } from '../support/servers/redis-server.js';
import { testWorkers } from '../support/workers.js';
import { CountingServer, expectWhole } from '../workers/counting-server.js';

let server: RedisServer;
let databases = 0;
beforeAll(async () => {
  server = await RedisServer.start('--appendonly', 'yes');
});
afterAll(() => server[Symbol.asyncDispose]());

describe('parley serve --workers on Redis', () => {
  testWorkers(async () => `${server.url}/${databases++}`);
});

it('a program whose server has workers starts no storage process on Redis', { timeout: 60_000 }, async () => {
  await using counting = await CountingServer.startListening(`${server.url}/${databases++}`);
  expect(await counting.bothAnswer()).toEqual(new Set(counting.pids.workers));
  expect(counting.pids.storage).toBeUndefined();
  await expectWhole(counting, await counting.count(3), 3);
  expect((await counting.running.stop()).code).toBe(0);
});
