import { afterAll, expect, it } from 'vitest';
import type { DeliveryClaim, HeldDelivery } from '../../packages/parley/src/store/push-storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { LEASE, only, TaskPlay } from './storage/task-play.js';
import { StorageClock } from './storage/tested-storage.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const clock = new StorageClock();
const CONFIG = { id: 'hook', url: 'https://example.com/hook' };

async function claim(storage: TaskStorage): Promise<readonly DeliveryClaim[]> {
  const { claims } = await storage.push.claim({ ...LEASE, agents: ['test'], limit: 9, maxBytes: 100_000 });
  return claims;
}

function settleAll(storage: TaskStorage, queue: HeldDelivery): Promise<boolean> {
  return storage.push.settle(queue, { kind: 'delivered', through: 1_000 });
}

it('deliveries outlive a restart; the lease of the process that is gone is void', async () => {
  const path = files.fresh();
  const before = { clock, storage: await files.open(clock, { path }) };
  const held = await TaskPlay.begin(before, 'held', { pushConfig: CONFIG });
  const claimed = only(await claim(before.storage));
  await TaskPlay.begin(before, 'retried', { pushConfig: CONFIG });
  const retried = only(await claim(before.storage));
  await before.storage.push.settle(retried, { kind: 'retry', inMs: 500, status: 503 });
  await TaskPlay.begin(before, 'parked', { pushConfig: CONFIG });
  const parked = only(await claim(before.storage));
  await before.storage.push.settle(parked, { kind: 'park', reason: 'gone', status: 410 });
  await before.storage.close();
  const storage = await files.open(clock, { path });
  const { queues } = await storage.push.queues({ agents: ['test'], limit: 9 });
  expect(queues).toMatchObject([
    { key: held.key, attempts: 0 },
    { attempts: 1, lastStatus: 503, dueAt: clock.now() + 500 },
    { parked: 'gone', lastStatus: 410 },
  ]);
  expect(await settleAll(storage, claimed)).toBe(false);
  const again = only(await claim(storage));
  expect(again).toMatchObject({ key: held.key, epoch: claimed.epoch + 1, records: [{ seq: 1 }] });
  await storage.append(held.draft([held.chunk('x')], { authority: 'force' }));
  expect(await settleAll(storage, again)).toBe(true);
  await storage.close();
});

it('a thread that dies after a claim gives the same queues out again', async () => {
  const worker = files.dyingWorker('after', `!again && request[0]?.[0] === "claim-deliveries" ? "now" : "no"`);
  const storage = await files.open(clock, { worker });
  await TaskPlay.begin({ clock, storage }, 't1', { pushConfig: CONFIG });
  const claimed = only(await claim(storage));
  expect(await settleAll(storage, claimed)).toBe(true);
  await storage.close();
});
