import { afterAll } from 'vitest';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { sameAnswersProperty } from '../contract/storage/same-answers.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';

// The engine decides for both storages. Equal answers show that the tables give it the same rows and write the same
// changes.

const server = await PostgresServer.start('fsync=off');
const clock = new StorageClock();
const memory = new MemoryStorage({ clock });
const other = await clockedStorage(await server.newDatabase(), clock);
afterAll(async () => {
  await other.close();
  await server[Symbol.asyncDispose]();
});

const runs = process.env.TEST_LONG === undefined ? 25 : 300;

sameAnswersProperty('PostgreSQL', async () => ({ clock, memory, other, secondOwner: () => null }), runs);
