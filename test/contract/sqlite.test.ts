import { afterAll } from 'vitest';
import { SqliteFiles } from './sqlite-files.js';
import { storageContract } from './storage-contract.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

storageContract('SQLite', (clock) => files.open(clock));
