import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { ALICE, acceptance, LEASE, newTask, TaskPlay, userMessage } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

// A statement that waits for the lock on a task sees the new row of the task, and all other rows as they were before.

let server: PostgresServer;
let storage: PostgresStorage;
let elsewhere: PostgresStorage;
let other: pg.Client;
beforeAll(async () => {
  server = await PostgresServer.start();
  const url = await server.newDatabase();
  const options = { url, clock: systemClock, logger: new CapturingLogger() };
  storage = await PostgresStorage.open(options);
  elsewhere = await PostgresStorage.open(options);
  other = new pg.Client({ connectionString: url });
  await other.connect();
});
afterAll(async () => {
  await storage.close();
  await elsewhere.close();
  await other.end();
  await server[Symbol.asyncDispose]();
});

/** Resolves when at least `count` statements wait for a lock. */
async function untilBlocked(count = 1): Promise<void> {
  for (;;) {
    const { rows } = await other.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
    if (rows.length >= count) return;
  }
}

describe('an append that waited for another transaction', () => {
  it('makes a queue due if its configuration was added meanwhile', async () => {
    const play = await TaskPlay.begin({ storage, clock: new StorageClock() }, 't1');
    await other.query('BEGIN');
    await other.query(`UPDATE parley.task SET pushes = true WHERE id = 't1'`);
    await other.query(`INSERT INTO parley.push_config (task, place, epoch, position, attempts, part, agent, id, config)
      SELECT pk, 1, 1, seq, 0, part, agent, 'c', '{"id":"c","url":"https://example.com"}' FROM parley.task WHERE id = 't1'`);
    const write = play.write(['TASK_STATE_WORKING']);
    await untilBlocked();
    await other.query('COMMIT');
    await write;
    const { claims } = await storage.push.claim({ ...LEASE, agents: ['test'], limit: 5, maxBytes: 10_000 });
    expect(claims.map(({ configId, records }) => [configId, records.map(({ seq }) => seq)])).toEqual([['c', [2]]]);
  });

  it('removes a turn that was accepted meanwhile if it ends the task', async () => {
    const play = await TaskPlay.begin({ storage, clock: new StorageClock() }, 't2');
    await other.query('BEGIN');
    await other.query(`UPDATE parley.task SET turns = 2, queued = 2 WHERE id = 't2'`);
    await other.query(`INSERT INTO parley.execution (task, place, lease_end, turn, epoch, attempt, hand_overs, part, ready,
        agent, message, caller)
      SELECT pk, 1, 0, 2, 0, 0, 0, part, false, agent, '{}', '{}' FROM parley.task WHERE id = 't2'`);
    const write = play.write(['TASK_STATE_COMPLETED']);
    await untilBlocked();
    await other.query('COMMIT');
    expect(await write).toBe(0);
    expect(
      (await other.query('SELECT FROM parley.execution e JOIN parley.task t ON t.pk = e.task WHERE t.id = $1', ['t2']))
        .rows,
    ).toEqual([]);
  });
});

describe('a request to cancel a turn that keeps writing', () => {
  it('is decided once, even if a record is appended meanwhile', async () => {
    const play = await TaskPlay.begin({ storage, clock: new StorageClock() }, 't6');
    await other.query('BEGIN');
    await other.query(`SELECT FROM parley.task WHERE id = 't6' FOR UPDATE`);
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    const write = play.write(['TASK_STATE_WORKING']);
    await untilBlocked();
    const cancel = elsewhere.requestCancel(ALICE, 't6', {});
    await untilBlocked(2);
    await other.query('COMMIT');
    await write;
    expect(await cancel).toMatchObject({ kind: 'requested', turn: 1 });
    const names = spy.mock.calls.map(([query]) => (query as { readonly name?: string }).name);
    spy.mockRestore();
    expect(names.filter((name) => name === 'load-rows')).toHaveLength(1);
    expect(await storage.heads([play.key])).toMatchObject([{ seq: 2 }]);
  });
});

describe('a process of an earlier version', () => {
  // Its statements do not write the version of the task.
  it('adds a turn, and the holder of the earlier turn takes it into account', async () => {
    const play = await TaskPlay.begin({ storage, clock: new StorageClock() }, 't4');
    await play.write(['TASK_STATE_WORKING']);
    await other.query(`WITH t AS (UPDATE parley.task SET turns = 2, queued = 2 WHERE id = 't4' RETURNING *)
      INSERT INTO parley.execution (task, place, lease_end, turn, epoch, attempt, hand_overs, part, ready, agent, message,
        caller)
      SELECT pk, 1, 0, 2, 0, 0, 0, part, false, agent, '{}', '{}' FROM t`);
    expect(await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 })).toBe(1);
    const { rows } = await other.query(`SELECT turn, ready FROM parley.execution e JOIN parley.task t ON t.pk = e.task
      WHERE t.id = 't4'`);
    expect(rows).toEqual([{ turn: 2, ready: true }]);
  });

  it('takes a turn over, and its holder is fenced', async () => {
    const play = await TaskPlay.begin({ storage, clock: new StorageClock() }, 't5');
    await other.query(`WITH t AS (UPDATE parley.task SET epoch = epoch + 1 WHERE id = 't5' RETURNING *)
      UPDATE parley.execution e SET node = 'old', epoch = t.epoch FROM t WHERE e.task = t.pk`);
    expect(await storage.append(play.draft(['TASK_STATE_WORKING']))).toEqual({ kind: 'fenced' });
    expect(await storage.renew({ ...LEASE, turns: [play.held] })).toEqual([{ held: false }]);
  });
});

describe('a message to an idle task', () => {
  const claim = LEASE;

  it('is refused if the task ended while it waited, and stores no key', async () => {
    const idempotency = { key: 'k', digest: 'd', ttlMs: 60_000 };
    await storage.create(ALICE, newTask({ storage, clock: new StorageClock() }, 't3'));
    await other.query('BEGIN');
    await other.query(`UPDATE parley.task SET state = 3, ended = 1, snapshot_seq = seq WHERE id = 't3'`);
    const accept = storage.accept(acceptance(userMessage('m'), 't3', { claim, idempotency }));
    await untilBlocked();
    await other.query('COMMIT');
    expect(await accept).toMatchObject({ kind: 'terminal' });
    expect(await storage.keys.recall(ALICE, 'k')).toBeUndefined();
    expect((await other.query(`SELECT FROM parley.idempotency WHERE key = 'k'`)).rows).toEqual([]);
  });
});
