import { afterAll } from 'vitest';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { conversationContract } from './conversation-contract.js';
import { scopedTasksContract } from './scoped-tasks-contract.js';
import type { OpenStorage } from './storage/tested-storage.js';
import { storageContract } from './storage-contract.js';
import { turnContextContract } from './turn-context-contract.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const open: OpenStorage = (clock, options) => files.open(clock, options);

storageContract('SQLite', open);
scopedTasksContract('SQLite', open);
conversationContract('SQLite', open);
turnContextContract('SQLite', open, { concurrent: true });
