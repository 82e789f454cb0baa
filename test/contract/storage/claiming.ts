import { describe, expect, it } from 'vitest';
import {
  ALICE,
  acceptance,
  claimsOf,
  ELSEWHERE,
  LEASE,
  newTask,
  only,
  TaskPlay,
  takeClaim,
  userMessage,
} from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of claims, heartbeats, releases and takeovers of turns. */
export function claimingContract(open: OpenStorage): void {
  describe('claiming', () => {
    const tested = useStorage(open);
    const claim = (more: { limit?: number; agents?: string[]; task?: string; node?: string } = {}) => {
      const { limit = 10, agents = ['test'], task, node = LEASE.node } = more;
      return claimsOf(tested.storage, {
        ...LEASE,
        node,
        agents,
        limit,
        ...(task !== undefined && { task: { scope: ALICE, id: task } }),
      });
    };
    const send = (id: string, task: string, agent = 'test') =>
      tested.storage.accept(
        acceptance(userMessage(id), task.startsWith('new ') ? newTask(tested, task.slice(4)) : task, {
          scope: { ...ALICE, agent },
        }),
      );

    it('gives the turns that wait, the oldest first, one for each task', async () => {
      await send('m1', 'new t2');
      await send('m2', 'new t1');
      await send('m3', 't2');
      await send('m4', 'new t3');
      const first = await claim({ limit: 2 });
      expect(first.map(({ task, message }) => [task.id, message.messageId])).toEqual([
        ['t2', 'm1'],
        ['t1', 'm2'],
      ]);
      expect((await claim()).map(({ message }) => message.messageId)).toEqual(['m4']);
      expect(await claim()).toEqual([]);
    });

    it('gives the next turn of a task when the one before has ended, oldest message first', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      await send('m2', 't1');
      await send('m3', 't1');
      await send('m4', 'new t2');
      expect((await claim({ limit: 1 })).map(({ message }) => message.messageId)).toEqual(['m4']);
      await send('m5', 'new t3');
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const next = await claim();
      expect(next.map(({ message, turn, attempt }) => [message.messageId, turn, attempt])).toEqual([
        ['m2', 2, 1],
        ['m5', 1, 1],
      ]);
      expect(next[0]).toMatchObject({ task: play.task, seq: play.seq, epoch: 2, began: false });
    });

    it('gives what the message came with', async () => {
      const caller = {
        user: { name: 'Bob', scopes: ['read'] },
        extensions: ['e'],
        acceptedOutputModes: ['text/plain'],
        version: '1.0',
      };
      const scope = { agent: 'test', tenant: 'x', owner: null };
      await tested.storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1'), { caller, scope }));
      expect(only(await claim())).toMatchObject({ scope, caller, message: userMessage('m1') });
    });

    it('looks at the agents asked for only', async () => {
      await send('m1', 'new t1', 'one');
      await send('m2', 'new t2', 'two');
      await send('m3', 'new t3', 'three');
      expect(await claim({ agents: [] })).toEqual([]);
      const claims = await claim({ agents: ['two', 'three'] });
      expect(claims.map(({ scope }) => scope.agent).sort()).toEqual(['three', 'two']);
    });

    it('can look at one task only', async () => {
      await send('m1', 'new t1');
      await send('m2', 'new t2');
      expect((await claim({ task: 't2' })).map(({ task }) => task.id)).toEqual(['t2']);
      expect(await claim({ task: 't2' })).toEqual([]);
      expect(await claim({ task: 't2', node: ELSEWHERE.node })).toEqual([]);
      expect(await claim({ task: 'unknown' })).toEqual([]);
      expect(await claim({ task: 't1', agents: ['other'] })).toEqual([]);
      expect(await claim({ task: 't1', limit: 0 })).toEqual([]);
    });

    it('takes over a turn whose lease has ended, with all that was written and kept', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_WORKING', play.chunk('half', false)]);
      await storage.saveCheckpoint(play.held, { step: [1, null] });
      clock.pass(LEASE.leaseMs - 1);
      expect(await claim({ node: 'there' })).toEqual([]);
      clock.pass(1);
      expect(only(await claim({ node: 'there' }))).toEqual({
        scope: ALICE,
        task: play.task,
        seq: 3,
        epoch: 2,
        turn: 1,
        attempt: 2,
        handOvers: 0,
        message: userMessage('first of t1'),
        caller: { extensions: [], version: '1.0' },
        began: true,
        checkpoint: { step: [1, null] },
      });
      expect(await claim({ node: 'anywhere' })).toEqual([]);
    });

    it('says whether an earlier attempt of the turn has written, and counts those that began', async () => {
      const { storage, clock } = tested;
      const began = async () => {
        clock.pass(LEASE.leaseMs);
        const next = only(await claim({ node: `node at ${clock.now()}` }));
        return { began: next.began, attempt: next.attempt, play: new TaskPlay(tested, next) };
      };
      const first = await TaskPlay.begin(tested, 't1');
      const second = await began();
      expect(second).toMatchObject({ began: false, attempt: 2 });
      expect(await first.send(first.draft(['TASK_STATE_WORKING']))).toEqual({ kind: 'fenced' });
      expect(await storage.begin(second.play.held, 2)).toEqual({ held: true });
      const third = await began();
      expect(third).toMatchObject({ began: false, attempt: 3 });
      await storage.begin(third.play.held, 3);
      await third.play.write(['TASK_STATE_WORKING']);
      const fourth = await began();
      expect(fourth).toMatchObject({ began: true, attempt: 4 });
      await fourth.play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const next = takeClaim(await storage.accept(acceptance(userMessage('m2'), 't1', { claim: LEASE })));
      expect(next).toMatchObject({ began: false, attempt: 1, turn: 2 });
    });

    it('never gives a node its own lease back', async () => {
      await TaskPlay.begin(tested, 't1');
      tested.clock.pass(LEASE.leaseMs * 2);
      expect(await claim()).toEqual([]);
      expect(await claim({ task: 't1' })).toEqual([]);
      expect(await claim({ node: 'there', task: 't1' })).toHaveLength(1);
    });

    it('takes back an ended lease of the node that does not know of it: the answer was lost', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const request = { ...LEASE, agents: ['test'], limit: 9 };
      expect(await claimsOf(storage, { ...request, holds: [] })).toEqual([]);
      clock.pass(LEASE.leaseMs);
      expect(await claimsOf(storage, { ...request, holds: [play.held] })).toEqual([]);
      const other = { ...play.held, key: { ...play.key, id: 't2' } };
      expect(only(await claimsOf(storage, { ...request, holds: [other] }))).toMatchObject({ turn: 1, epoch: 2 });
    });

    it('says whether a limit of turns or bytes cut it short', async () => {
      const { storage } = tested;
      for (let at = 0; at < 4; at += 1) {
        const history = [{ ...userMessage('m'), parts: [{ text: 'x'.repeat(10_000) }] }];
        await storage.accept(acceptance(userMessage(`m${at}`), newTask(tested, `t${at}`, { history })));
      }
      const request = { ...LEASE, agents: ['test'] };
      expect(await storage.claim({ ...request, limit: 0 })).toEqual({ claims: [], more: true });
      expect(await storage.claim({ ...request, limit: 1 })).toMatchObject({ claims: [{ turn: 1 }], more: true });
      const bounded = await storage.claim({ ...request, limit: 9, maxBytes: 5_000 });
      expect([bounded.claims.length, bounded.more]).toEqual([1, true]);
      const rest = await storage.claim({ ...request, limit: 2 });
      expect([rest.claims.length, rest.more]).toEqual([2, false]);
      expect(await storage.claim({ ...request, limit: 2 })).toEqual({ claims: [], more: false });
    });

    it('takes waiting turns and lost ones in the order of their messages', async () => {
      await TaskPlay.begin(tested, 't1');
      await send('m2', 'new t2');
      tested.clock.pass(LEASE.leaseMs);
      const order = (await claim({ node: 'there' })).map(({ task }) => task.id);
      expect(order).toEqual(['t1', 't2']);
    });

    it('gives concurrent callers different turns', async () => {
      for (let index = 0; index < 20; index += 1) await send(`m${index}`, `new t${index}`);
      const claims = await Promise.all(Array.from({ length: 8 }, (_, at) => claim({ limit: 4, node: `n${at}` })));
      // A claim may skip a turn that another claim has locked. The next claim finds it.
      const ids = [...claims.flat(), ...(await claim({ limit: 4, node: 'last' }))].map(({ task }) => task.id);
      expect(new Set(ids).size).toBe(20);
      expect(ids).toHaveLength(20);
    });
  });

  describe('a lease', () => {
    const tested = useStorage(open);

    it('is renewed from now on, in the order asked', async () => {
      const { storage, clock } = tested;
      const one = await TaskPlay.begin(tested, 't1');
      const two = await TaskPlay.begin(tested, 't2');
      clock.pass(LEASE.leaseMs - 1);
      const turns = [two.held, { ...one.held, epoch: 7 }, one.held, { ...one.held, turn: 2 }];
      const gone = { key: { scope: ALICE, id: 'unknown' }, turn: 1, epoch: 1 };
      expect((await storage.renew({ ...LEASE, turns: [...turns, gone] })).map(({ held }) => held)).toEqual([
        true,
        false,
        true,
        false,
        false,
      ]);
      clock.pass(LEASE.leaseMs - 1);
      expect(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 10 })).toEqual([]);
      clock.pass(1);
      expect(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 10 })).toHaveLength(2);
    });

    it('that has ended can be renewed while nobody has taken the turn over', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      clock.pass(LEASE.leaseMs * 2);
      expect(await storage.renew({ ...LEASE, turns: [play.held] })).toEqual([{ held: true }]);
      expect(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 })).toEqual([]);
      clock.pass(LEASE.leaseMs);
      await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 });
      expect(await storage.renew({ ...LEASE, turns: [play.held] })).toEqual([{ held: false }]);
    });
  });

  describe('releasing', () => {
    const tested = useStorage(open);

    it('`done` removes the turn and tells how many wait', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.accept(acceptance(userMessage('m2'), 't1'));
      expect(await storage.release({ ...play.held, attempt: 1 }, 'done')).toEqual({ waiting: 1 });
      expect(await storage.task(ALICE, 't1')).toMatchObject({ running: false, epoch: 1 });
      clock.pass(LEASE.leaseMs);
      expect((await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9 })).map(({ turn }) => turn)).toEqual([2]);
    });

    it('`again` leaves the turn to be claimed, before the ones behind it, by anyone', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.accept(acceptance(userMessage('m2'), 't1'));
      await storage.saveCheckpoint(play.held, 'here');
      expect(await storage.release({ ...play.held, attempt: 1 }, 'again')).toEqual({ waiting: 2 });
      const again = only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9 }));
      expect(again).toMatchObject({ turn: 1, attempt: 2, epoch: 2, checkpoint: 'here', began: false });
    });

    it('`again` counts the attempt, `handover` counts it as handed over, `unbegun` does not count it', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const next = async () => {
        const claim = only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9 }));
        return { claim, held: { ...new TaskPlay(tested, claim).held, attempt: claim.attempt } };
      };
      expect(await storage.release({ ...play.held, attempt: 1 }, 'handover')).toEqual({ waiting: 1 });
      const second = await next();
      expect(second.claim).toMatchObject({ attempt: 2, handOvers: 1 });
      await storage.begin(second.held, 2);
      await storage.release(second.held, 'again');
      const third = await next();
      expect(third.claim).toMatchObject({ attempt: 3, handOvers: 1 });
      await storage.release(third.held, 'unbegun');
      const fourth = await next();
      expect(fourth.claim).toMatchObject({ attempt: 3, handOvers: 1 });
      await storage.release(third.held, 'handover');
      await storage.release(fourth.held, 'again');
      expect((await next()).claim).toMatchObject({ attempt: 4, handOvers: 1 });
    });

    it('`unbegun` takes back the attempt of a turn that its own message claimed', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.release({ ...play.held, attempt: 1 }, 'unbegun');
      const next = only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9 }));
      expect(next).toMatchObject({ attempt: 1, handOvers: 0 });
    });

    it('does nothing for a turn that was overtaken or is not there', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      clock.pass(LEASE.leaseMs);
      const next = new TaskPlay(tested, only(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 })));
      expect(await storage.release({ ...play.held, attempt: 1 }, 'done')).toEqual({ waiting: 0 });
      expect(await storage.renew({ ...ELSEWHERE, turns: [next.held] })).toEqual([{ held: true }]);
      expect(
        await storage.release({ ...play.held, attempt: 1, key: { scope: { ...ALICE, owner: 'x' }, id: 'x' } }, 'done'),
      ).toEqual({ waiting: 0 });
    });
  });

  describe('beginning', () => {
    const tested = useStorage(open);
    const waits = () => tested.storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1')));
    const claimOf = async (lease: typeof LEASE) =>
      only(await claimsOf(tested.storage, { ...lease, agents: ['test'], limit: 1 }));

    it('is what counts as an attempt, not the claim', async () => {
      const { storage, clock } = tested;
      await waits();
      const first = await claimOf(LEASE);
      clock.pass(LEASE.leaseMs);
      const second = await claimOf(ELSEWHERE);
      expect([first.attempt, second.attempt]).toEqual([1, 1]);
      expect(await storage.begin(new TaskPlay(tested, second).held, second.attempt)).toEqual({ held: true });
      clock.pass(LEASE.leaseMs);
      expect(await claimOf(LEASE)).toMatchObject({ attempt: 2, handOvers: 0, began: false });
    });

    it('extends no lease, and is refused to a turn that was overtaken or released', async () => {
      const { storage, clock } = tested;
      await waits();
      const first = new TaskPlay(tested, await claimOf(LEASE));
      clock.pass(LEASE.leaseMs - 1);
      await storage.begin(first.held, 1);
      clock.pass(1);
      const second = new TaskPlay(tested, await claimOf(ELSEWHERE));
      expect(await storage.begin(first.held, 1)).toEqual({ held: false });
      await storage.release({ ...second.held, attempt: 1 }, 'again');
      expect(await storage.begin(second.held, 2)).toEqual({ held: false });
      expect(await claimOf(LEASE)).toMatchObject({ attempt: 2 });
    });

    it('tells of a request to cancel', async () => {
      const { storage } = tested;
      await waits();
      const claim = await claimOf(LEASE);
      await storage.requestCancel(ALICE, 't1', { metadata: { why: 1 } });
      expect(await storage.begin(new TaskPlay(tested, claim).held, 1)).toEqual({
        held: true,
        cancel: { metadata: { why: 1 } },
      });
    });
  });

  describe('a checkpoint', () => {
    const tested = useStorage(open);

    it('is kept for the next attempt, the last one only', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      expect(await storage.saveCheckpoint(play.held, { a: 1 })).toBe(true);
      expect(await storage.saveCheckpoint(play.held, null)).toBe(true);
      clock.pass(LEASE.leaseMs);
      expect(only(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 })).checkpoint).toBeNull();
    });

    it('can come with an append, and is kept if that is', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_WORKING'], { checkpoint: { a: 1 } });
      expect(await storage.append(play.draft([play.chunk('x')], { authority: 7, checkpoint: 2 }))).toEqual({
        kind: 'fenced',
      });
      clock.pass(LEASE.leaseMs);
      const next = only(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 }));
      expect(next.checkpoint).toEqual({ a: 1 });
    });

    it('is refused to a turn that was overtaken or released', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      clock.pass(LEASE.leaseMs);
      const next = new TaskPlay(tested, only(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 })));
      expect(await storage.saveCheckpoint(play.held, 1)).toBe(false);
      await storage.release({ ...next.held, attempt: 1 }, 'again');
      expect(await storage.saveCheckpoint(next.held, 1)).toBe(false);
      expect(only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 1 }))).not.toHaveProperty('checkpoint');
    });
  });
}
