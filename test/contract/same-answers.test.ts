import { afterAll } from 'vitest';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { type StoragePair, sameAnswersProperty } from './storage/same-answers.js';
import { StorageClock } from './storage/tested-storage.js';

const files = new SqliteFiles();
const clock = new StorageClock();
const memory = new MemoryStorage({ clock });
const sqlite = await files.open(clock);
afterAll(async () => {
  await sqlite.close();
  files.remove();
});

const pair: StoragePair = { clock, memory, other: sqlite, secondOwner: () => null };

sameAnswersProperty('SQLite', async () => pair, 150);
