import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { openPostgresStorage } from '../../packages/postgres/src/index.js';
import { acceptance, claimsOf, LEASE, userMessage } from '../contract/storage/task-play.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

const NO_JSON = '{"cut';
const ALL = { ...LEASE, agents: ['test'], limit: 100 };

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const waitingTurn = (storage: TaskStorage, id: string) =>
  storage.accept(
    acceptance(userMessage('m'), {
      id,
      contextId: 'c',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(0).toISOString() },
    }),
  );

it.each([
  ['message', `UPDATE parley.execution SET message = '${NO_JSON}' WHERE`],
  ['caller', `UPDATE parley.execution SET caller = '${NO_JSON}' WHERE`],
  ['task', `UPDATE parley.task_record SET event = '${NO_JSON}' WHERE`],
  ['task, gone', 'DELETE FROM parley.task_record WHERE'],
])('a turn that cannot be read is set aside and logged once, and other turns are claimed (%s)', async (_, sql) => {
  const url = await server.newDatabase();
  const logger = new CapturingLogger();
  const storage = await openPostgresStorage({ url, logger });
  for (const id of ['t0', 't1', 't2', 't3']) await waitingTurn(storage, id);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`${sql} task IN (SELECT pk FROM parley.task WHERE id IN ('t0', 't2'))`);
  await admin.end();

  const claims = await claimsOf(storage, ALL);
  expect(claims.map(({ task, attempt }) => [task.id, attempt])).toEqual([
    ['t1', 1],
    ['t3', 1],
  ]);
  expect(await claimsOf(storage, ALL)).toEqual([]);
  expect(await storage.check()).toMatchObject({ unreadable: 2 });
  const lines = logger.lines.filter(({ level }) => level === 'error');
  expect(lines.map(({ fields }) => fields?.taskId)).toEqual(['t0', 't2']);
  await storage.close();
});
