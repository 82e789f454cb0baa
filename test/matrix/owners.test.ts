import { afterAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { owners } from './owners.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

owners('memory', () => new MemoryStorage({ clock: systemClock }));
owners('SQLite', () => files.open(systemClock));
