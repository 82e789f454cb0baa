import { afterAll } from 'vitest';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { storageContract } from './storage-contract.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

// One that loses its thread again and again shows nothing of it.
const mortal = files.dyingWorker('before', 'count === 20 ? "now" : "no"');
storageContract('SQLite with a mortal thread,', (clock, options) => files.open(clock, { ...options, worker: mortal }), {
  differsIn: 'thread',
});
