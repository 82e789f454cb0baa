import { describe, expect, it } from 'vitest';
import type {
  DeliveryClaim,
  DeliveryClaimRequest,
  DeliveryPage,
} from '../../../packages/parley/src/store/push-storage.js';
import { isLogSwept } from '../../../packages/parley/src/store/rules/decide-retention.js';
import { sweepTimes } from '../../../packages/parley/src/store/rules/retention.js';
import { ALICE, acceptance, ELSEWHERE, LEASE, newTask, only, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

const CONFIG = { id: 'hook', url: 'https://example.com/hook' };
const BOB = { ...ALICE, owner: 'bob' };

/** The contract of the deliveries of push. */
export function deliveriesContract(open: OpenStorage): void {
  describe('deliveries of push', () => {
    const tested = useStorage(open);
    const claim = async (more: Partial<DeliveryClaimRequest> = {}) =>
      tested.storage.push.claim({ ...LEASE, agents: ['test'], limit: 10, maxBytes: 100_000, ...more });
    const claimOne = async (more: Partial<DeliveryClaimRequest> = {}) => only((await claim(more)).claims);
    const names = async (more: Partial<DeliveryClaimRequest> = {}) =>
      (await claim(more)).claims.map(({ key, configId }) => `${key.id} ${configId}`);
    const seqs = ({ records }: DeliveryClaim) => records.map(({ seq }) => seq);
    const queueOf = ({ key, configId }: DeliveryClaim) => ({ key, configId });
    const list = (): Promise<DeliveryPage> => tested.storage.push.queues({ agents: ['test'], limit: 10 });
    /** A running task with a configuration that its message brought. */
    const beginWithPush = (id: string, more = {}) => TaskPlay.begin(tested, id, { pushConfig: CONFIG, ...more });
    const settleAll = (queue: DeliveryClaim) =>
      tested.storage.push.settle(queue, { kind: 'delivered', through: queue.last, status: 200 });

    it('begin with the first record of a task whose message brings the configuration', async () => {
      const play = await beginWithPush('t1');
      await play.write([play.chunk('a'), play.chunk('b')]);
      const claimed = await claimOne();
      expect(claimed).toMatchObject({
        key: play.key,
        configId: 'hook',
        config: { ...CONFIG, taskId: 't1' },
        position: 0,
        last: 3,
        attempts: 0,
      });
      expect(seqs(claimed)).toEqual([1, 2, 3]);
      const log = await tested.storage.records(play.key, 0, 100_000);
      expect(claimed.records.map(({ text }) => text)).toEqual(log.records.map(({ text }) => text));
    });

    it('begin with the next record where the configuration comes later', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write([play.chunk('a')]);
      await storage.push.putConfig(ALICE, { ...CONFIG, taskId: 't1' });
      await storage.accept(acceptance(userMessage('m'), 't1', { pushConfig: { ...CONFIG, id: 'second' } }));
      expect((await claim()).claims).toEqual([]);
      await play.write([play.chunk('b')]);
      const { claims } = await claim();
      expect(claims.map(({ configId }) => configId)).toEqual(['hook', 'second']);
      expect(claims.map(seqs)).toEqual([[3], [3]]);
    });

    it('come in the order in which they became due, one queue for each configuration', async () => {
      const { storage, clock } = tested;
      for (const id of ['a', 'b']) {
        await beginWithPush(id);
        clock.pass(1);
      }
      await storage.push.putConfig(ALICE, { ...CONFIG, id: 'other', taskId: 'a' });
      const forced = { authority: 'force' as const };
      const play = new TaskPlay(tested, { scope: ALICE, task: newTask(tested, 'a'), seq: 1 });
      await play.write([play.chunk('x')], forced);
      expect(await names()).toEqual(['a hook', 'b hook', 'a other']);
    });

    it('are for one of two nodes, and for the other after the end of the lease', async () => {
      const { clock } = tested;
      await beginWithPush('t1');
      const first = await claimOne();
      expect(await names(ELSEWHERE)).toEqual([]);
      clock.pass(LEASE.leaseMs - 1);
      expect(await names(ELSEWHERE)).toEqual([]);
      clock.pass(1);
      const second = await claimOne(ELSEWHERE);
      expect(second.epoch).toBeGreaterThan(first.epoch);
      expect(await settleAll(first)).toBe(false);
      expect(await settleAll(second)).toBe(true);
      expect(await settleAll(second)).toBe(false);
    });

    it('of a configuration that was deleted and added again do not belong to the earlier holder', async () => {
      const { storage, clock } = tested;
      const play = await beginWithPush('t1');
      const earlier = await claimOne();
      await storage.push.deleteConfig(ALICE, 't1', 'hook');
      clock.pass(1);
      await storage.push.putConfig(ALICE, { ...CONFIG, url: 'https://example.com/other', taskId: 't1' });
      await play.write([play.chunk('a')]);
      const later = await claimOne();
      expect(await storage.push.settle(earlier, { kind: 'park', reason: 'HTTP status 410', status: 410 })).toBe(false);
      expect(only((await list()).queues)).not.toHaveProperty('parked');
      expect(await settleAll(later)).toBe(true);
    });

    it('are settled after the end of the lease as long as no other node has claimed them', async () => {
      await beginWithPush('t1');
      const claimed = await claimOne();
      tested.clock.pass(LEASE.leaseMs * 2);
      expect(await settleAll(claimed)).toBe(true);
      expect(only((await list()).queues)).toMatchObject({ position: 1, last: 1, lastStatus: 200 });
    });

    it('belong to the agents that a node asks for, and come up to its limits', async () => {
      const { storage } = tested;
      const text = 'x'.repeat(1_000);
      for (const id of ['a', 'b', 'c']) {
        const play = await beginWithPush(id);
        await play.write([play.chunk(text), play.chunk(text)]);
      }
      expect(await claim({ agents: ['other'] })).toEqual({ claims: [], more: false });
      const first = await claim({ limit: 1, maxBytes: 10 });
      expect(first.more).toBe(true);
      expect(seqs(only(first.claims))).toEqual([1]);
      const rest = await claim({ maxBytes: 1_500 });
      expect(rest.more).toBe(false);
      expect(rest.claims.map(seqs)).toEqual([[1, 2], [1]]);
      const one = only(first.claims);
      await storage.push.settle(one, { kind: 'delivered', through: 1 });
      expect(seqs(await claimOne())).toEqual([2, 3]);
    });

    it('go on with the records behind the settled ones', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      await play.write([play.chunk('a')]);
      const claimed = await claimOne();
      await play.write([play.chunk('b')]);
      const keeps = { kind: 'delivered', through: 1, leaseMs: LEASE.leaseMs * 2 } as const;
      expect(await storage.push.settle(claimed, keeps)).toBe(true);
      tested.clock.pass(LEASE.leaseMs);
      expect(await names(ELSEWHERE)).toEqual([]);
      expect(await settleAll(claimed)).toBe(true);
      const next = await claimOne();
      expect({ position: next.position, seqs: seqs(next) }).toEqual({ position: 2, seqs: [3] });
      expect(await storage.push.settle(next, { kind: 'delivered', through: 3, leaseMs: 5 })).toBe(true);
      expect(await names()).toEqual([]);
      await play.write(['TASK_STATE_COMPLETED']);
      expect(seqs(await claimOne())).toEqual([4]);
    });

    it('wait until the time of their next attempt, also when records come', async () => {
      const { storage, clock } = tested;
      const play = await beginWithPush('t1');
      const failed = { kind: 'retry', inMs: 500, status: 503 } as const;
      expect(await storage.push.settle(await claimOne(), failed)).toBe(true);
      await play.write([play.chunk('a')]);
      expect(await names()).toEqual([]);
      expect(only((await list()).queues)).toMatchObject({ attempts: 1, lastStatus: 503, dueAt: clock.now() + 500 });
      clock.pass(500);
      const again = await claimOne();
      expect(again).toMatchObject({ attempts: 1, position: 0 });
      await storage.push.settle(again, { kind: 'retry', inMs: 1 });
      expect(only((await list()).queues)).toMatchObject({ attempts: 2 });
      expect(only((await list()).queues).lastStatus).toBeUndefined();
      clock.pass(1);
      await settleAll(await claimOne());
      expect(only((await list()).queues)).toMatchObject({ attempts: 0, position: 2 });
    });

    it('have the text that a failed attempt has left, until a record is delivered', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      const first = await claimOne();
      expect(first.trace).toBeUndefined();
      await storage.push.settle(first, { kind: 'retry', inMs: 0, status: 503, trace: 'a b' });
      const second = await claimOne();
      expect(second.trace).toBe('a b');
      await storage.push.settle(second, { kind: 'defer', inMs: 0 });
      const third = await claimOne();
      expect(third.trace).toBe('a b');
      await storage.push.settle(third, { kind: 'park', reason: 'refused', trace: 'a c' });
      await storage.push.replay(third);
      const fourth = await claimOne();
      expect(fourth.trace).toBe('a c');
      await settleAll(fourth);
      await play.write([play.chunk('a')]);
      expect((await claimOne()).trace).toBeUndefined();
    });

    it('may be given back without an attempt, and keep what is known of the last one', async () => {
      const { storage, clock } = tested;
      await beginWithPush('t1');
      await storage.push.settle(await claimOne(), { kind: 'retry', inMs: 0, status: 503 });
      const held = await claimOne();
      expect(await storage.push.settle(held, { kind: 'defer', inMs: 500 })).toBe(true);
      expect(only((await list()).queues)).toMatchObject({ attempts: 1, lastStatus: 503, dueAt: clock.now() + 500 });
      expect(await storage.push.settle(held, { kind: 'defer', inMs: 0 })).toBe(false);
      clock.pass(500);
      expect(await claimOne()).toMatchObject({ attempts: 1, position: 0 });
    });

    it('are held on during a request that takes longer than a lease, until they are given back', async () => {
      const { storage, clock } = tested;
      await beginWithPush('t1');
      const held = await claimOne();
      clock.pass(LEASE.leaseMs - 1);
      expect(await storage.push.settle(held, { kind: 'held', leaseMs: LEASE.leaseMs })).toBe(true);
      clock.pass(LEASE.leaseMs - 1);
      expect(await names(ELSEWHERE)).toEqual([]);
      clock.pass(1);
      const taken = await claimOne(ELSEWHERE);
      expect(await storage.push.settle(held, { kind: 'held', leaseMs: LEASE.leaseMs })).toBe(false);
      expect(await storage.push.settle(taken, { kind: 'defer', inMs: 0 })).toBe(true);
      expect(await storage.push.settle(taken, { kind: 'held', leaseMs: LEASE.leaseMs })).toBe(false);
    });

    it('may give up records, and count the attempt', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      await play.write([play.chunk('a')]);
      const refused = { kind: 'retry', inMs: 0, status: 404, through: 1 } as const;
      expect(await storage.push.settle(await claimOne(), refused)).toBe(true);
      const next = await claimOne();
      expect([next.position, next.attempts, seqs(next)[0]]).toEqual([1, 1, 2]);
      expect(await storage.push.settle(next, { ...refused, through: 99 })).toBe(true);
      expect(await names()).toEqual([]);
      await play.write([play.chunk('b')]);
      expect(await claimOne()).toMatchObject({ attempts: 2 });
    });

    it('are parked until a replay, which may go back to a record that is kept', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      await play.write([play.chunk('a')]);
      await settleAll(await claimOne());
      await play.write([play.chunk('b')]);
      const claimed = await claimOne();
      await storage.push.settle(claimed, { kind: 'park', reason: 'it is gone', status: 410 });
      await play.write([play.chunk('c')]);
      expect(await names()).toEqual([]);
      const parked = only((await list()).queues);
      expect(parked).toMatchObject({ parked: 'it is gone', lastStatus: 410, attempts: 1, position: 2, last: 4 });
      expect(parked.dueAt).toBeUndefined();
      const queue = queueOf(claimed);
      expect(await storage.push.replay(queue, 0)).toBe('not-kept');
      expect(await storage.push.replay(queue, 5)).toBe('not-kept');
      expect(await storage.push.replay(queue)).toBe('replayed');
      const again = await claimOne();
      expect({ seqs: seqs(again), attempts: again.attempts }).toEqual({ seqs: [3, 4], attempts: 0 });
      expect(await storage.push.replay(queue, 2)).toBe('replayed');
      expect(await settleAll(again)).toBe(false);
      expect(seqs(await claimOne())).toEqual([2, 3, 4]);
      expect(await storage.push.replay({ ...queue, configId: 'x' })).toBe('not-found');
      expect(await storage.push.replay({ ...queue, key: { ...play.key, scope: BOB } })).toBe('not-found');
    });

    it('are given up by a purge; later records are delivered', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      const claimed = await claimOne();
      expect(await storage.push.purge(queueOf(claimed))).toBe(true);
      expect(await settleAll(claimed)).toBe(false);
      expect(await names()).toEqual([]);
      await play.write([play.chunk('a')]);
      expect(seqs(await claimOne())).toEqual([2]);
      expect(await storage.push.purge({ ...queueOf(claimed), configId: 'x' })).toBe(false);
    });

    it('stop with their configuration and with their task', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      const claimed = await claimOne();
      await storage.push.deleteConfig(ALICE, 't1', 'hook');
      expect(await settleAll(claimed)).toBe(false);
      await play.write([play.chunk('a')]);
      expect(await names()).toEqual([]);
      await storage.push.putConfig(ALICE, { ...CONFIG, taskId: 't1' });
      await play.write(['TASK_STATE_COMPLETED']);
      expect(await names()).toEqual(['t1 hook']);
      expect(await storage.delete(ALICE, 't1')).toBe('deleted');
      expect(await list()).toEqual({ queues: [] });
      await storage.create(ALICE, newTask(tested, 't1'));
      expect(await list()).toEqual({ queues: [] });
      tested.clock.pass(LEASE.leaseMs);
      expect(await names()).toEqual([]);
    });

    it('go on when a configuration is replaced: from its position, without the failures of the one before', async () => {
      const { storage } = tested;
      const play = await beginWithPush('t1');
      await settleAll(await claimOne());
      await play.write([play.chunk('a')]);
      const claimed = await claimOne();
      await storage.push.putConfig(ALICE, { ...CONFIG, taskId: 't1' });
      await storage.push.settle(claimed, { kind: 'park', reason: 'refused', status: 401 });
      await storage.push.putConfig(ALICE, { ...CONFIG, taskId: 't1' });
      expect(await names()).toEqual([]);
      const config = { ...CONFIG, token: 'new', taskId: 't1' };
      await storage.push.putConfig(ALICE, config);
      expect(await claimOne()).toMatchObject({ config, position: 1, attempts: 0 });
    });

    it('are listed by agent, scope and standing, page by page', async () => {
      const { storage } = tested;
      for (const id of ['a', 'b', 'c']) await beginWithPush(id);
      await beginWithPush('d', { scope: BOB });
      await beginWithPush('e', { scope: { ...ALICE, agent: 'other' } });
      const claims = (await claim({ limit: 2 })).claims;
      const [first, second] = claims;
      if (first === undefined || second === undefined) throw new Error('Two queues were expected');
      await storage.push.settle(first, { kind: 'park', reason: 'no' });
      await settleAll(second);
      const ids = async (query: Partial<Parameters<typeof storage.push.queues>[0]>) => {
        const page = await storage.push.queues({ agents: ['test'], limit: 10, ...query });
        return page.queues.map(({ key }) => key.id);
      };
      expect(await ids({ scope: ALICE })).toEqual(['a', 'b', 'c']);
      expect((await ids({})).sort()).toEqual(['a', 'b', 'c', 'd']);
      expect(await ids({ standing: 'parked' })).toEqual(['a']);
      expect((await ids({ standing: 'pending' })).sort()).toEqual(['c', 'd']);
      expect(await ids({ scope: BOB })).toEqual(['d']);
      expect(await ids({ agents: [] })).toEqual([]);
      const all = await storage.push.queues({ limit: 10 });
      expect(all.queues.map(({ key }) => key.id).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
      const ofBob = await storage.push.queues({ limit: 10, scope: BOB });
      expect(ofBob.queues.map(({ key }) => key.id)).toEqual(['d']);
      expect((await ids({ agents: ['other', 'test'] })).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
      const page = await storage.push.queues({ agents: ['test'], limit: 3 });
      expect(page.queues).toHaveLength(3);
      const { next: cursor } = page;
      if (cursor === undefined) throw new Error('There is no next page');
      const rest = await storage.push.queues({ agents: ['test'], limit: 3, cursor });
      expect(rest.queues).toHaveLength(1);
      expect([...page.queues, ...rest.queues].map(({ key }) => key.id).sort()).toEqual(['a', 'b', 'c', 'd']);
      expect(rest.next).toBeUndefined();
    });

    it('wake those who deliver', async () => {
      const { storage } = tested;
      const seen: string[] = [];
      storage.wakeups.subscribe({ deliveryReady: (agent) => seen.push(agent) });
      await TaskPlay.begin(tested, 'plain');
      expect(seen).toEqual([]);
      const play = await beginWithPush('t1');
      expect(seen).toEqual(['test']);
      await settleAll(await claimOne());
      await play.write([play.chunk('a')]);
      expect(seen).toEqual(['test', 'test']);
      await play.write([play.chunk('b')]);
      expect(seen).toEqual(['test', 'test']);
      await storage.push.replay({ key: play.key, configId: 'hook' });
      expect(seen).toHaveLength(3);
    });

    it('keep the log of their task from a sweep, until they are parked or the task goes', async () => {
      const { storage, clock } = tested;
      const end = async (play: TaskPlay) => void (await play.write(['TASK_STATE_COMPLETED']));
      for (const id of ['a', 'b']) await end(await beginWithPush(id));
      await end(await TaskPlay.begin(tested, 'plain'));
      clock.pass(100);
      const kept = { taskRetentionMs: 1_000, eventLogMs: 10, limit: 100 };
      expect(await storage.sweep(kept)).toMatchObject({ tasks: 0, records: 2 });
      const claimed = (await claim({ limit: 1 })).claims;
      await storage.push.settle(only(claimed), { kind: 'park', reason: 'no' });
      expect(await storage.sweep(kept)).toMatchObject({ tasks: 0, records: 2 });
      expect((await storage.records({ scope: ALICE, id: 'b' }, 0, 10_000)).records).toHaveLength(2);
      await storage.push.replay(queueOf(only(claimed)));
      expect((await claim({ limit: 1 })).claims.map(seqs)).toEqual([[1, 2]]);
      expect(await claimOne()).toMatchObject({ key: { id: 'a' }, records: [], position: 0, last: 2 });
      clock.pass(1_000);
      expect(await storage.sweep(kept)).toMatchObject({ tasks: 3, records: 2 });
      expect(await list()).toEqual({ queues: [] });
    });

    it('keep just the logs that the rule of retention keeps', async () => {
      const { storage, clock } = tested;
      for (const [taskRetentionMs, eventLogMs] of [0, 1, 2, 3].flatMap((age) =>
        [0, 1, 2, 3].map((log) => [age, log]),
      )) {
        const retention = { taskRetentionMs: taskRetentionMs ?? 0, eventLogMs: eventLogMs ?? 0, limit: 100 };
        const plays = [await beginWithPush('pending'), await TaskPlay.begin(tested, 'plain')];
        for (const play of plays) await play.write(['TASK_STATE_COMPLETED']);
        const endedAt = clock.now();
        const times = sweepTimes(retention, clock.pass(2));
        const logs = [true, false].filter((isPending) => isLogSwept({ endedAt, isPending }, times));
        const swept = { records: 2 * logs.length, tasks: endedAt < times.finishedBefore ? 2 : 0 };
        expect(await storage.sweep(retention), JSON.stringify(retention)).toMatchObject(swept);
        for (const { key } of plays) await storage.delete(key.scope, key.id);
      }
    });

    it('keep no log whose task is over: a sweep with a limit takes that of the oldest task first', async () => {
      const { storage, clock } = tested;
      for (const play of [await beginWithPush('older'), await TaskPlay.begin(tested, 'newer')]) {
        await play.write(['TASK_STATE_COMPLETED']);
        clock.pass(1);
      }
      clock.pass(100);
      const swept = await storage.sweep({ taskRetentionMs: 10, eventLogMs: 10, limit: 1 });
      expect(swept).toMatchObject({ tasks: 0, records: 1 });
      const floors = ['older', 'newer'].map(
        async (id) => (await storage.records({ scope: ALICE, id }, 0, 1_000)).floor,
      );
      expect(await Promise.all(floors)).toEqual([2, 1]);
    });

    it('bring no record that a sweep has dropped, also of records that were written together', async () => {
      const { storage, clock } = tested;
      const play = await beginWithPush('t1');
      await play.write([play.chunk('a'), play.chunk('b'), 'TASK_STATE_COMPLETED']);
      clock.pass(100);
      expect(await storage.sweep({ taskRetentionMs: 10, eventLogMs: 10, limit: 2 })).toMatchObject({ records: 2 });
      expect(seqs(await claimOne())).toEqual([3, 4]);
    });
  });
}
