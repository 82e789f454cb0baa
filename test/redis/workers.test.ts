import { afterAll, beforeAll, describe } from 'vitest';
import { RedisServer } from '../support/servers/redis-server.js';
import { testWorkers } from '../support/workers.js';

let server: RedisServer;
let databases = 0;
beforeAll(async () => {
  server = await RedisServer.start('--appendonly', 'yes');
});
afterAll(() => server[Symbol.asyncDispose]());

describe('parley serve --workers on Redis', () => {
  testWorkers(async () => `${server.url}/${databases++}`);
});
