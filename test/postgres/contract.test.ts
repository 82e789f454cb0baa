import { afterAll, beforeAll } from 'vitest';
import { sealedStorage } from '../../packages/parley/src/store/sealed-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { conversationContract } from '../contract/conversation-contract.js';
import { scopedTasksContract } from '../contract/scoped-tasks-contract.js';
import { sharedKeysContract } from '../contract/storage/keeping.js';
import { storageContract } from '../contract/storage-contract.js';
import { turnContextContract } from '../contract/turn-context-contract.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';

/** Partitions make statements slower, so the short form has few. */
const PARTITIONS = process.env.TEST_LONG === undefined ? 4 : 16;

let server: PostgresServer;
let url: string;
let partitioned: string;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
  url = await server.newDatabase();
  partitioned = await server.newDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

storageContract('PostgreSQL', (clock, options) => clockedStorage(url, clock, options));
scopedTasksContract('PostgreSQL', (clock, options) => clockedStorage(url, clock, options));
conversationContract('PostgreSQL', (clock, options) => clockedStorage(url, clock, options));
turnContextContract('PostgreSQL', (clock, options) => clockedStorage(url, clock, options));
sharedKeysContract('PostgreSQL', (clock, options) => clockedStorage(url, clock, options));
storageContract(
  `PostgreSQL with ${PARTITIONS} partitions and encrypted credentials`,
  async (clock, options) =>
    sealedStorage(await clockedStorage(partitioned, clock, { ...options, partitions: PARTITIONS }), {
      keys: ['a'.repeat(64)],
      logger: silentLogger,
    }),
  { differsIn: 'places' },
);
