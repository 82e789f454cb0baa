import { expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { readClusterStatus } from './cluster-status.js';
import { MemoryStorage } from './memory/memory-storage.js';

function world() {
  const clock = new ManualClock();
  return { clock, storage: new MemoryStorage({ clock }) };
}

it('shows the replicas, and those that have fallen silent', async () => {
  const { clock, storage } = world();
  await storage.heartbeat({ node: 'a', agents: ['/'], runningTurns: 3 });
  await clock.advance(20_000);
  await storage.heartbeat({ node: 'b', agents: ['/'], runningTurns: 2 });
  await clock.advance(1_000);
  const status = await readClusterStatus(storage);
  expect(status.replicas).toMatchObject([
    { node: 'a', silentMs: 21_000, ageMs: 21_000, isAlive: false },
    { node: 'b', silentMs: 1_000, isAlive: true },
  ]);
  expect(status).toMatchObject({ runningTurns: 2, waiting: 0, problems: [] });
});

it('names what needs an operator', async () => {
  const { clock, storage } = world();
  expect((await readClusterStatus(storage)).problems).toEqual(['no replica is alive']);
  await storage.heartbeat({ node: 'a', agents: ['/old'], runningTurns: 0 });
  await clock.advance(20_000);
  await storage.heartbeat({ node: 'b', agents: ['/new'], runningTurns: 0 });
  expect((await readClusterStatus(storage)).problems).toEqual(['no replica serves /old any more']);
});

it('counts webhooks that wait and that were given up', async () => {
  const { storage } = world();
  const scope = { agent: '/', tenant: '', owner: null };
  await storage.heartbeat({ node: 'a', agents: ['/'], runningTurns: 0 });
  await storage.create(scope, { id: 'one', contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
  for (const id of ['waits', 'parked']) {
    await storage.push.putConfig(scope, { id, taskId: 'one', url: 'https://hook.example/' });
    await storage.push.replay({ key: { scope, id: 'one' }, configId: id }, 1);
  }
  const lease = { node: 'a', leaseMs: 1_000 };
  const { claims } = await storage.push.claim({ ...lease, agents: ['/'], limit: 10, maxBytes: 1_000 });
  const parked = claims.find(({ configId }) => configId === 'parked');
  if (parked === undefined) throw new Error('not claimed');
  await storage.push.settle(parked, { kind: 'park', reason: 'answered 410', status: 410 });
  expect(await readClusterStatus(storage)).toMatchObject({
    pendingWebhooks: 1,
    parkedWebhooks: 1,
    mostPendingEvents: 1,
    problems: ['1 webhooks were given up: see parley push dead list'],
  });
});
