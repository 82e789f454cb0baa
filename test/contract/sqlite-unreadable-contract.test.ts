import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { type StoredText, unreadableContract } from './storage/unreadable.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const OF_TASK = '(SELECT pk FROM task WHERE id = ?)';
const CHANGES: Readonly<Record<StoredText, string>> = {
  status: 'UPDATE task SET status = ? WHERE id = ?',
  history: `UPDATE snapshot SET history = ? WHERE task = ${OF_TASK}`,
  'record 1': `UPDATE task_record SET event = ? WHERE key = (${OF_TASK} << 31) + 1`,
  'record 2': `UPDATE task_record SET event = ? WHERE key = (${OF_TASK} << 31) + 2`,
  config: `UPDATE push_config SET config = ? WHERE id = 'hook' AND task = ${OF_TASK}`,
};

unreadableContract('SQLite', async (clock, logger) => {
  const path = files.fresh();
  return {
    storage: await files.open(clock, { path, logger }),
    corrupt: async (taskId, where, text) => {
      const db = new DatabaseSync(path);
      db.prepare(CHANGES[where]).run(text, taskId);
      db.close();
    },
  };
});
