import { afterAll } from 'vitest';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { storageContract } from './storage-contract.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

// A storage that repeatedly loses its thread must pass the contract.
const mortal = files.dyingWorker('before', 'count === 20 ? "now" : "no"');
storageContract('SQLite with a mortal thread,', (clock, options) => files.open(clock, { ...options, worker: mortal }), {
  differsIn: 'thread',
});
