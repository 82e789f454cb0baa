import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { ALICE, acceptance, LEASE, TaskPlay, userMessage } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());
const storages = new RedisStorages(server.url);
const clock = new StorageClock();

/** A clock that records the delays of its timers, and fires them at once. */
class PauseClock extends StorageClock {
  readonly pauses: number[] = [];

  override after(ms: number, task: () => void): () => void {
    this.pauses.push(ms);
    setImmediate(task);
    return () => {};
  }
}

let storage: TaskStorage;
/** The storage of another process. Before each of its scripts, the turn writes a record. */
let elsewhere: TaskStorage;
let play: TaskPlay;

beforeEach(async () => {
  storage = await storages.open(clock);
  play = await TaskPlay.begin({ storage, clock }, 't1');
  const before = async () => {
    await play.write(['TASK_STATE_WORKING']);
  };
  elsewhere = await storages.open(clock, { prefix: storages.prefix, before });
});
afterEach(async () => {
  await elsewhere.close();
  await storage.close();
});

describe('while a turn writes continuously', () => {
  it('a request to cancel is stored', async () => {
    expect(await elsewhere.requestCancel(ALICE, 't1', { metadata: { by: 'x' } })).toMatchObject({
      kind: 'requested',
      turn: 1,
    });
    expect(await storage.begin(play.held, 1)).toEqual({ held: true, cancel: { metadata: { by: 'x' } } });
  });

  it('a message is accepted', async () => {
    const outcome = await elsewhere.accept(acceptance(userMessage('second'), 't1', { claim: LEASE }));
    expect(outcome).toMatchObject({ kind: 'accepted', turn: 2, seq: play.seq });
    expect(await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 })).toBe(1);
  });

  it('the queue of a new push configuration begins after the last record', async () => {
    const config = { id: 'c', taskId: 't1', url: 'https://example.com' };
    expect(await elsewhere.push.putConfig(ALICE, config)).toBe('put');
    const { queues } = await storage.push.queues({ limit: 10 });
    expect(queues).toMatchObject([{ position: play.seq, last: play.seq }]);
  });
});

it('a call whose task keeps changing retries with growing pauses, and succeeds', async () => {
  const pausing = new PauseClock();
  let moves = 8;
  const before = async () => {
    if (moves === 0) return;
    moves -= 1;
    await storage.accept(acceptance(userMessage(`message ${moves}`), 't1'));
  };
  const moved = await storages.open(pausing, { prefix: storages.prefix, before });
  expect(await moved.requestCancel(ALICE, 't1', {})).toMatchObject({ kind: 'requested' });
  await moved.close();
  expect(moves).toBe(0);
  expect(pausing.pauses.length).toBeGreaterThan(2);
  expect(pausing.pauses).toEqual(pausing.pauses.toSorted((one, other) => one - other));
});
