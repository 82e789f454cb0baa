import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { SqliteStorage } from '../../packages/parley/src/store/sqlite/sqlite-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { parley, parleyJson } from './parley.js';

const files = new SqliteFiles();
const path = files.fresh();
const source = `sqlite:${path}`;

async function withStorage(file: string, work: (storage: SqliteStorage) => Promise<void>): Promise<void> {
  const storage = await files.open(systemClock, { path: file });
  await work(storage);
  await storage.close();
}

beforeAll(async () => {
  await withStorage(path, async (storage) => {
    for (const id of ['one', 'two', 'three']) {
      const status = { state: 'TASK_STATE_INPUT_REQUIRED' } as const;
      await storage.create({ agent: '/', tenant: '', owner: null }, { id, contextId: 'c', status });
    }
  });
});
afterAll(() => files.remove());

it('copies a database and prints the numbers', async () => {
  const target = files.fresh();
  const { code, stdout } = await parley(['db', 'copy', source, `sqlite:${target}`]);
  expect(code).toBe(0);
  expect(stdout).toBe('Tasks: 3\nEvents: 3\nTurns: 0\nWebhooks: 0\nIdempotency keys: 0\n');
  const again = await parleyJson(['db', 'copy', source, `sqlite:${target}`, '--resume']);
  expect(again).toEqual({ copied: { tasks: 3, records: 3, turns: 0, pushConfigs: 0, keys: 0, present: 3 } });
});

it('refuses a target with tasks, a missing argument and an unknown kind of database', async () => {
  const target = files.fresh();
  await parley(['db', 'copy', source, `sqlite:${target}`]);
  const full = await parley(['db', 'copy', source, `sqlite:${target}`]);
  expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining('has 3 tasks already') });
  expect(await parley(['db', 'copy', source])).toMatchObject({ code: 2 });
  const unknown = await parley(['db', 'copy', source, 'mysql://ada:pl4nted-s3cret-word@host/db']);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).not.toContain('pl4nted-s3cret');
});

it('refuses a file that a server uses', async () => {
  await withStorage(path, async () => {
    const { code, stderr } = await parley(['db', 'copy', source, `sqlite:${files.fresh()}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('another server uses it');
  });
});

it('db status names the schema of a newer version, and db migrate refuses it', async () => {
  const newer = files.fresh();
  await withStorage(newer, async () => {});
  const on = ['--database', `sqlite:${newer}`];
  const { newestSchema } = await parleyJson<{ newestSchema: number }>(['db', 'status', ...on]);
  const file = new DatabaseSync(newer);
  file.exec(`UPDATE meta SET value = '99' WHERE name = 'schema'`);
  file.close();
  const { stdout } = await parley(['db', 'status', ...on]);
  expect(stdout).toContain(`Schema: 99 (newer than this version, which knows ${newestSchema})`);
  for (const more of [['--dry-run'], []]) {
    const { code, stderr } = await parley(['db', 'migrate', ...more, ...on]);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('schema 99')]);
  }
});
