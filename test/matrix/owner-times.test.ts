import { afterAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { ownerTimes } from './owner-times.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

ownerTimes('memory', () => new MemoryStorage({ clock: systemClock }));
ownerTimes('SQLite', () => files.open(systemClock, { durability: 'process' }), { isSlow: true });
