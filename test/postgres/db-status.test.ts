import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openPostgresStorage } from '../../packages/postgres/src/index.js';
import { parley, parleyJson } from '../cli/parley.js';
import { ALICE, acceptance, LEASE, userMessage } from '../contract/storage/task-play.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

it.each(['', '?partitions=4'])('parley db migrate and db status work on PostgreSQL%s', async (options) => {
  const url = `${await server.newDatabase()}${options}`;
  const database = ['--database', url];
  const before = await parley(['db', 'status', ...database]);
  expect(before.stdout).toContain('Schema: none');
  const planned = await parleyJson(['db', 'migrate', '--dry-run', ...database]);
  expect(planned).toEqual({ from: 0, to: 6, changed: false });
  expect(await parleyJson(['db', 'status', ...database])).toMatchObject({ schema: 0, newestSchema: 6, tables: [] });
  expect(await parleyJson(['db', 'migrate', ...database])).toEqual({ from: 0, to: 6, changed: true });
  expect(await parleyJson(['db', 'migrate', ...database])).toEqual({ from: 6, to: 6, changed: false });

  const storage = await openPostgresStorage({ url, logger: silentLogger });
  const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: new Date(0).toISOString() };
  const pushConfig = { id: 'hook', url: 'https://example.com/hook' };
  await storage.accept(
    acceptance(userMessage('m'), { id: 'ends', contextId: 'c', status }, { claim: { ...LEASE, leaseMs: 0 } }),
  );
  await storage.accept(acceptance(userMessage('m'), { id: 'waits', contextId: 'c', status }, { pushConfig }));
  await storage.create(ALICE, { id: 'done', contextId: 'c', status: { ...status, state: 'TASK_STATE_COMPLETED' } });

  // Servers keep the database in use meanwhile.
  const found = await parleyJson(['db', 'status', ...database]);
  expect(found).toMatchObject({
    database: expect.stringMatching(/^127\.0\.0\.1:\d+\/test_\d+$/),
    schema: 6,
    newestSchema: 6,
    bytes: expect.any(Number),
    tasks: { TASK_STATE_SUBMITTED: 2, TASK_STATE_COMPLETED: 1 },
    turns: 2,
    pushConfigs: 1,
    endedLeases: 1,
    oldestLeaseMs: expect.any(Number),
  });
  const { tables } = found as { readonly tables: readonly { readonly name: string; readonly bytes: number }[] };
  expect(tables.map(({ name }) => name)).toContain('task_record');
  expect(tables.filter(({ name }) => /_\d+$/.test(name))).toEqual([]);
  await storage.close();
  const { stdout } = await parley(['db', 'status', ...database]);
  expect(stdout).toMatch(/Schema: 6\nSize: .*\nTable .*, about \d+ rows\n/);
  expect(stdout).toMatch(/Ended leases: 1, the oldest for \d+ s\n/);
});

it('parley db vacuum refuses a url that is not of a file', async () => {
  const { code, stderr } = await parley(['db', 'vacuum', '--database', await server.newDatabase()]);
  expect(code).toBe(2);
  expect(stderr).toContain('works on files');
});
