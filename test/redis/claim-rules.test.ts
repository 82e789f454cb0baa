import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, expect, it } from 'vitest';
import { queueOfConfig } from '../../packages/parley/src/store/engine/delivery-queues.js';
import {
  claimedDelivery,
  dueDelivery,
  isDeliveryClaimable,
} from '../../packages/parley/src/store/rules/decide-delivery.js';
import { claimedBy, isClaimable } from '../../packages/parley/src/store/rules/decide-lease.js';
import { olderHalf } from '../../packages/parley/src/store/rules/decide-retention.js';
import type { DeliveryHead } from '../../packages/parley/src/store/rules/delivery-head.js';
import { RedisKeys } from '../../packages/redis/src/storage/redis-keys.js';
import { headOf, headTextOf } from '../../packages/redis/src/storage/task-texts.js';
import { ALICE, TaskPlay } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

const server = await RedisServer.start();
const redis = new Redis(server.url);
afterAll(async () => {
  await redis.quit();
  await server[Symbol.asyncDispose]();
});
const storages = new RedisStorages(server.url);
const TASK = { scope: ALICE, id: 't1' };
const NODES = ['one', 'two'];

/** Opens a storage with one task. */
async function openWithTask() {
  const clock = new StorageClock();
  const storage = await storages.open(clock);
  await storage.create(ALICE, { id: TASK.id, status: { state: 'TASK_STATE_WORKING' } });
  return { storage, clock, now: clock.now(), place: new RedisKeys(storages.prefix).ofTask(TASK) };
}

const held = fc.record({
  key: fc.constantFrom(TASK, { scope: ALICE, id: 't2' }),
  turn: fc.constantFrom(1, 2),
  epoch: fc.constantFrom(1, 2),
});

it('the script claims a turn if and only if the rule allows it', async () => {
  const { storage, now, place } = await openWithTask();
  const known = headOf([await redis.hget(place.key, 'h'), null, null]);
  if (known === undefined) throw new Error('The task is not there');
  let count = 0;
  let refused = 0;
  const heads = fc.record({
    queue: fc.subarray([1, 2, 3]),
    isHeld: fc.boolean(),
    epoch: fc.constantFrom(1, 2),
    node: fc.constantFrom(...NODES),
    lease: fc.constantFrom(-1, 0, 1),
    claimant: fc.constantFrom(...NODES),
    holds: fc.option(fc.array(held, { maxLength: 3 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(heads, async ({ queue: turns, isHeld, epoch, node, lease, claimant, holds }) => {
      const queue = turns.map((turn) => ({ turn }));
      const [first] = queue;
      const holder = isHeld && first !== undefined ? { ...first, node, leaseEnd: now + lease } : undefined;
      const head = { ...known, queue, epoch, turns: 3, holder };
      const fields = turns.flatMap((turn) => [`m${turn}`, '{}', `c${turn}`, '{}', `n${turn}`, `0 0 ${turn}`]);
      await redis.hset(place.key, 'h', headTextOf(head), 'n', node, ...fields);
      const taken = { node: claimant, leaseMs: 10 };
      const request = { ...taken, agents: [ALICE.agent], limit: 1, task: TASK };
      const found = await storage.claim({ ...request, ...(holds !== undefined && { holds }) });
      const isExpected = isClaimable(head, { node: claimant, holds }, { task: TASK, now });
      if (isExpected) count += 1;
      else refused += 1;
      expect(found.claims.map((claim) => claim.turn)).toEqual(isExpected ? [first?.turn] : []);
      const [numbers = null, holding = null] = await redis.hmget(place.key, 'h', 'n');
      const { version, ...after } = headOf([numbers, holding, null]) ?? head;
      const { text, version: before, ...same } = head;
      const claimed = isExpected && first !== undefined ? claimedBy(head, first.turn, { lease: taken, now }) : {};
      expect(after).toEqual({ ...same, ...claimed, text: expect.any(String) });
      expect(version).toBe(before + (isExpected ? 1 : 0));
    }),
    { numRuns: 300 },
  );
  expect(Math.min(count, refused)).toBeGreaterThan(30);
  await storage.close();
});

it('the script claims a delivery queue if and only if the rule allows it', async () => {
  const { storage, now, place } = await openWithTask();
  await storage.push.putConfig(ALICE, { id: 'hook', taskId: TASK.id, url: 'https://example.com' });
  const times = fc.option(fc.constantFrom(-1, 0, 1), { nil: undefined });
  let claimed = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(times, times, async (due, lease) => {
      const leaseEnd = lease === undefined ? undefined : now + lease;
      const head: DeliveryHead = {
        ...{ position: 0, attempts: 2, lastStatus: 500, parked: undefined, epoch: 7 },
        dueAt: due === undefined ? undefined : now + due,
        holder: leaseEnd === undefined ? undefined : { node: 'one', leaseEnd },
        trace: due === 0 ? '00-a 00-b' : undefined,
      };
      await redis.hset(`${place.base}deliv:${place.name}`, '"hook"', queueText(head, '1'));
      // The queue is always in the set of due queues, so that only its head decides.
      await redis.zadd(`${place.base}due:${place.agent}`, 0, `${place.name.slice(0, -1)},"hook"]`);
      const demand = { node: 'two', leaseMs: 10, agents: [ALICE.agent], limit: 1, maxBytes: 1_000 };
      const { claims } = await storage.push.claim(demand);
      const isExpected = isDeliveryClaimable(head, now);
      if (isExpected) claimed += 1;
      else refused += 1;
      expect(claims.map(({ epoch }) => epoch)).toEqual(isExpected ? [8] : []);
      const after = isExpected ? claimedDelivery(head, demand, now) : head;
      expect(await redis.hget(`${place.base}deliv:${place.name}`, '"hook"')).toBe(queueText(after, '1'));
    }),
    { numRuns: 100 },
  );
  expect(Math.min(claimed, refused)).toBeGreaterThan(10);
  await storage.close();
});

/** Returns the text of a queue: see `DELIVERY` in `lua-prelude.ts`. */
function queueText(
  { position, dueAt, attempts, lastStatus, epoch, holder, parked, trace }: DeliveryHead,
  order: string,
) {
  const numbers = [position, dueAt ?? -1, attempts, lastStatus ?? -1, epoch, holder?.leaseEnd ?? -1, order];
  const texts = JSON.stringify([holder?.node ?? null, parked ?? null, ...(trace === undefined ? [] : [trace])]);
  return `${numbers.join(' ')} ${parked === undefined ? 0 : 1} ${texts}`;
}

it('the script of a commit stores configurations and makes queues due as the rules say', async () => {
  const { storage, clock, now, place } = await openWithTask();
  const config = { id: 'hook', taskId: TASK.id, url: 'https://example.com' };
  const queues = `${place.base}deliv:${place.name}`;
  const orders = `${place.base}count`;
  const near = fc.integer({ min: now - 2, max: now + 2 });
  const anyHead: fc.Arbitrary<DeliveryHead> = fc.record({
    position: fc.integer({ min: 0, max: 1 }),
    dueAt: fc.option(near, { nil: undefined, freq: 2 }),
    attempts: fc.nat({ max: 3 }),
    lastStatus: fc.option(fc.constantFrom(200, 500), { nil: undefined }),
    parked: fc.option(fc.constant('gone'), { nil: undefined, freq: 2 }),
    epoch: fc.integer({ min: 1, max: 3 }),
    holder: fc.option(fc.record({ node: fc.constantFrom(...NODES), leaseEnd: near }), { nil: undefined }),
    trace: fc.option(fc.constant('00-a 00-b'), { nil: undefined }),
  });
  await storage.push.putConfig(ALICE, config);
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(anyHead, fc.constantFrom('append', 'put', 'put anew'), async (head, call) => {
      calls += 1;
      await redis.hset(queues, '"hook"', queueText(head, '1'));
      const stored = await storage.task(ALICE, TASK.id);
      if (stored === undefined) throw new Error('The task is not there');
      const { seq: last } = stored;
      let expected: DeliveryHead;
      if (call === 'append') {
        const play = new TaskPlay({ storage, clock }, { ...stored, turn: 0 });
        expect(await storage.append(play.draft([play.chunk('x')], { authority: 'idle' }))).toMatchObject({
          kind: 'appended',
        });
        expected = dueDelivery(head, now) ?? head;
      } else {
        if (call === 'put anew') await storage.push.deleteConfig(ALICE, TASK.id, 'hook');
        await storage.push.putConfig(ALICE, { ...config, url: `https://example.com/${calls}` });
        expected = queueOfConfig(call === 'put' ? head : undefined, { position: last, last, now });
      }
      const order = call === 'put anew' ? await redis.hget(orders, 'order') : '1';
      expect(await redis.hget(queues, '"hook"')).toBe(queueText(expected, order ?? ''));
    }),
    { numRuns: 200 },
  );
  await storage.close();
});

it('the script of a commit cuts a long log as the rule says', async () => {
  const clock = new StorageClock();
  const maxBytes = 400;
  const storage = await storages.open(clock, { eventLogBytes: maxBytes });
  let runs = 0;
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 12 }), async (lengths) => {
      runs += 1;
      const play = await TaskPlay.begin({ storage, clock }, `t${runs}`);
      const { key, base, name } = new RedisKeys(storages.prefix).ofTask(play.key);
      const log = `${base}log:${name}`;
      const read = async () => {
        const records = await redis.lrange(log, 0, -1);
        const head = headOf([await redis.hget(key, 'h'), null, null]);
        if (head === undefined) throw new Error('The task is not there');
        return { records, bytes: head.bytes, last: head.seq };
      };
      await play.write(lengths.map((length) => play.chunk('x'.repeat(length))));
      const { records: before } = await read();
      const whole = { withSnapshot: true };
      await play.write([play.chunk('last')], whole);
      const { records, bytes, last } = await read();
      const all = [...before, ...records.slice(-1)];
      const sizes = all.map((text, at) => ({ seq: last - all.length + 1 + at, bytes: text.length }));
      const sum = sizes.reduce((total, size) => total + size.bytes, 0);
      const { floor, bytes: freed } = sum > maxBytes ? olderHalf(sizes, { last, bytes: sum }) : { floor: 0, bytes: 0 };
      expect(records).toEqual(all.filter((_, at) => (sizes[at]?.seq ?? 0) >= floor));
      expect(bytes).toBe(sum - freed);
      if (floor > 0) cut += 1;
    }),
    { numRuns: 60 },
  );
  expect(cut).toBeGreaterThan(10);
  await storage.close();
});
