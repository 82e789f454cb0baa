import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { ALICE, acceptance, newTask, TaskPlay, userMessage } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

const CONFIG = { id: 'hook', url: 'https://example.com/hook' };

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Changes the queues of a task in a transaction, while an append waits for it. Returns the claimed records. */
async function besideAppend(sql: string, pushConfig?: typeof CONFIG) {
  const url = await server.newDatabase();
  const storage = await PostgresStorage.open({ url, clock: systemClock, logger: new CapturingLogger() });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  try {
    const play = await TaskPlay.begin({ storage, clock: new StorageClock() }, 't1', pushConfig && { pushConfig });
    await other.query('BEGIN');
    await other.query('SELECT pk FROM parley.task FOR SHARE');
    await other.query(sql);
    const written = play.write([play.chunk('a')]);
    await waitForLock(other);
    await other.query('COMMIT');
    await written;
    const claims = await storage.push.claim({
      node: 'n',
      leaseMs: 1,
      agents: ['test'],
      limit: 9,
      maxBytes: 9_999,
    });
    return claims.claims.map(({ configId, records }) => ({ configId, seqs: records.map(({ seq }) => seq) }));
  } finally {
    await storage.close();
    await other.end();
  }
}

/** Resolves when another connection waits for a lock. */
async function waitForLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(`SELECT FROM pg_locks WHERE NOT granted`);
    if (rowCount !== 0) return;
  }
}

it('a record makes a queue due again if its last record was settled meanwhile', async () => {
  const settled = 'UPDATE parley.push_config SET position = 1, due = NULL, node = NULL, lease_end = NULL';
  expect(await besideAppend(settled, CONFIG)).toEqual([{ configId: 'hook', seqs: [2] }]);
});

it('a record makes a queue due if its configuration was added meanwhile', async () => {
  const added = `WITH t AS (UPDATE parley.task SET pushes = true RETURNING pk, part, agent)
    INSERT INTO parley.push_config (task, part, agent, place, id, config, position, attempts, epoch)
    SELECT pk, part, agent, 1, 'hook', '{"id":"hook","url":"https://example.com/hook","taskId":"t1"}', 1, 0, 1 FROM t`;
  expect(await besideAppend(added)).toEqual([{ configId: 'hook', seqs: [2] }]);
});

it('a message waits while another process writes its key, and gets the stored outcome', async () => {
  const url = await server.newDatabase();
  const storage = await PostgresStorage.open({ url, clock: systemClock, logger: new CapturingLogger() });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  try {
    const tested = { storage, clock: new StorageClock() };
    const idempotency = { key: 'k', digest: 'd', ttlMs: 60_000 };
    await TaskPlay.begin(tested, 't1');
    await storage.keys.reserve(ALICE, idempotency, { node: 'a', leaseMs: 0 });
    await other.query('BEGIN');
    await other.query("UPDATE parley.idempotency SET task_id = 't1', turn = 1, node = NULL, lease_end = NULL");
    const repeated = storage.accept(acceptance(userMessage('m'), newTask(tested, 't2'), { idempotency }));
    await waitForLock(other);
    await other.query('COMMIT');
    expect(await repeated).toMatchObject({ kind: 'repeated', first: { outcome: { taskId: 't1' } } });
    expect(await storage.task(ALICE, 't2')).toBeUndefined();
  } finally {
    await storage.close();
    await other.end();
  }
});
