import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { ALICE, acceptance, newTask, TaskPlay, userMessage } from '../contract/storage/task-play.js';
import { StorageClock, type Tested } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

let server: PostgresServer;
let tested: Tested;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  const url = await server.newDatabase();
  // Wake-ups are read apart from all calls, and are not counted.
  const options = { url, durability: 'process', clock: systemClock, logger: new CapturingLogger() } as const;
  const storage = await PostgresStorage.open(options);
  tested = { storage, clock: new StorageClock() };
  return () => storage.close();
});

/** Returns the names of the statements that a call sends to the server. */
async function statementsOf(call: () => Promise<unknown>): Promise<readonly string[]> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await call();
    const sent = spy.mock.calls.map(
      ([query]) => query as unknown as { readonly name?: string; readonly text?: string },
    );
    return sent.map(({ name, text }) => name ?? text ?? '').filter((text) => !/NOTIFY|pg_notify|wakeup/i.test(text));
  } finally {
    spy.mockRestore();
  }
}

const idempotency = { key: 'k', digest: 'd', ttlMs: 60_000 };
const cancel = (id: string) => tested.storage.requestCancel(ALICE, id, { metadata: { why: 1 } });
const releaseTurn = (play: TaskPlay) => tested.storage.release({ ...play.held, attempt: 1 }, 'done');

it.each<readonly [string, readonly string[], () => Promise<() => Promise<unknown>>]>([
  [
    'accept and claim',
    ['create-tasks'],
    async () => () =>
      tested.storage.accept(acceptance(userMessage('m'), newTask(tested, 't'), { claim: { node: 'n', leaseMs: 1 } })),
  ],
  [
    'accept with a new key',
    ['create-tasks'],
    async () => () =>
      tested.storage.accept(
        acceptance(userMessage('m'), newTask(tested, 't'), { idempotency, claim: { node: 'n', leaseMs: 1 } }),
      ),
  ],
  [
    'message to a task without a turn',
    ['load-rows', 'change-tasks', 'read-tasks'],
    async () => {
      await tested.storage.create(ALICE, newTask(tested, 't'));
      return () => tested.storage.accept(acceptance(userMessage('m'), 't', { claim: { node: 'n', leaseMs: 1 } }));
    },
  ],
  [
    'message with a key to a task that is there',
    ['load-rows', 'BEGIN', 'put-key', 'change-tasks', 'COMMIT'],
    async () => {
      await TaskPlay.begin(tested, 't');
      return () => tested.storage.accept(acceptance(userMessage('m'), 't', { idempotency }));
    },
  ],
  [
    'reservation of a key',
    ['put-key'],
    async () => () => tested.storage.keys.reserve(ALICE, idempotency, { node: 'n', leaseMs: 60_000 }),
  ],
  [
    'begin of an attempt',
    ['change-held-turns'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      return () => tested.storage.begin(play.held, 1);
    },
  ],
  [
    'renewal of two leases',
    ['change-held-turns'],
    async () => {
      const turns = [(await TaskPlay.begin(tested, 't')).held, (await TaskPlay.begin(tested, 'u')).held];
      return () => tested.storage.renew({ node: 'n', leaseMs: 60_000, turns });
    },
  ],
  [
    'append and end',
    ['append-records'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      return () => play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
    },
  ],
  [
    'cancel of a running task',
    ['load-rows', 'change-tasks'],
    async () => {
      await TaskPlay.begin(tested, 't');
      return () => cancel('t');
    },
  ],
  [
    'second cancel of a running task',
    ['load-rows', 'change-tasks'],
    async () => {
      await TaskPlay.begin(tested, 't');
      await cancel('t');
      return () => cancel('t');
    },
  ],
  [
    'cancel of an idle task',
    ['load-rows', 'read-tasks'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      return () => cancel('t');
    },
  ],
  [
    'cancel of a finished task',
    ['load-rows'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      return () => cancel('t');
    },
  ],
  ['cancel of no task', ['load-rows'], async () => () => cancel('t')],
  [
    'end of a turn that wrote nothing',
    ['append-records'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      return () => releaseTurn(play);
    },
  ],
  [
    'end of a turn before another one',
    ['change-tasks'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await tested.storage.accept(acceptance(userMessage('m'), 't'));
      return () => releaseTurn(play);
    },
  ],
  [
    'hand-over of a turn',
    ['change-tasks'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      return () => tested.storage.release({ ...play.held, attempt: 1 }, 'handover');
    },
  ],
  [
    'delete',
    ['load-rows', 'delete-task'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      return () => tested.storage.delete(ALICE, 't');
    },
  ],
  [
    'delivered notification',
    ['settle-delivered'],
    async () => {
      await TaskPlay.begin(tested, 't', { pushConfig: { id: 'hook', url: 'https://example.com/hook' } });
      const request = { node: 'n', leaseMs: 60_000, agents: ['test'], limit: 1, maxBytes: 1_000 };
      const [claim] = (await tested.storage.push.claim(request)).claims;
      if (claim === undefined) throw new Error('Nothing was claimed');
      return () => tested.storage.push.settle(claim, { kind: 'delivered', through: claim.last });
    },
  ],
])('%s sends %j', async (_, expected, prepare) => {
  const call = await prepare();
  expect(await statementsOf(call)).toEqual(expected);
});
