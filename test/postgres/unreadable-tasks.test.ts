import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { type StoredText, unreadableContract } from '../contract/storage/unreadable.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
  url = await server.newDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

const OF_TASK = '(SELECT pk FROM parley.task WHERE id = $2)';
const CHANGES: Readonly<Record<StoredText, string>> = {
  status: 'UPDATE parley.task SET status = $1 WHERE id = $2',
  history: 'UPDATE parley.task SET history = $1 WHERE id = $2',
  'record 1': `UPDATE parley.task_record SET event = $1 WHERE seq = 1 AND task = ${OF_TASK}`,
  'record 2': `UPDATE parley.task_record SET event = $1 WHERE seq = 2 AND task = ${OF_TASK}`,
  config: `UPDATE parley.push_config SET config = $1 WHERE id = 'hook' AND task = ${OF_TASK}`,
};

unreadableContract('PostgreSQL', async (clock, logger) => ({
  storage: await clockedStorage(url, clock, { logger }),
  corrupt: async (taskId, where, text) => {
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(CHANGES[where], [text, taskId]);
    await admin.end();
  },
}));
