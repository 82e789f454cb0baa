import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { PostgresStorage } from '../../packages/parley/src/store/postgres/postgres-storage.js';
import { ALICE, acceptance, newTask, said, TaskPlay } from '../contract/storage/task-play.js';
import { StorageClock, type Tested } from '../contract/storage/tested-storage.js';
import { CapturingLogger } from '../support/engine.js';
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

/** Statements that a call sends to the server. */
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

const cancel = (id: string) => tested.storage.requestCancel(ALICE, id, { metadata: { why: 1 } });
const released = (play: TaskPlay) => tested.storage.release({ ...play.held, attempt: 1 }, 'done');

it.each<readonly [string, readonly string[], () => Promise<() => Promise<unknown>>]>([
  [
    'accept and claim',
    ['create-tasks'],
    async () => () =>
      tested.storage.accept(acceptance(said('m'), newTask(tested, 't'), { claim: { node: 'n', leaseMs: 1 } })),
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
    ['request-cancel'],
    async () => {
      await TaskPlay.begin(tested, 't');
      return () => cancel('t');
    },
  ],
  [
    'second cancel of a running task',
    ['request-cancel', 'BEGIN', 'lock-task', 'queue-of-task', 'read-cancel', 'write-cancel', 'COMMIT'],
    async () => {
      await TaskPlay.begin(tested, 't');
      await cancel('t');
      return () => cancel('t');
    },
  ],
  [
    'cancel of an idle task',
    ['request-cancel', 'read-tasks'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      return () => cancel('t');
    },
  ],
  [
    'cancel of a finished task',
    ['request-cancel'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      return () => cancel('t');
    },
  ],
  ['cancel of no task', ['request-cancel'], async () => () => cancel('t')],
  [
    'end of a turn that wrote nothing',
    ['end-turn'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      return () => released(play);
    },
  ],
  [
    'end of a turn before another one',
    ['end-turn', 'BEGIN', 'lock-task', 'queue-of-task', 'drop-turn', 'write-queue', 'COMMIT'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      await tested.storage.accept(acceptance(said('m'), 't'));
      return () => released(play);
    },
  ],
  [
    'hand-over of a turn',
    ['release-turn'],
    async () => {
      const play = await TaskPlay.begin(tested, 't');
      return () => tested.storage.release({ ...play.held, attempt: 1 }, 'handover');
    },
  ],
  [
    // One statement would not see records that were committed while it waited for the lock.
    'delete',
    ['BEGIN', 'lock-task', 'queue-of-task', 'delete-task', 'COMMIT'],
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
