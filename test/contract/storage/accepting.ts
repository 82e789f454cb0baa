import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../../packages/parley/src/store/task-storage.js';
import {
  ALICE,
  acceptance,
  acceptedOf,
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

/** The contract of accepting a message. */
export function acceptingContract(open: OpenStorage): void {
  describe('accepting a message', () => {
    const tested = useStorage(open);

    it('with a new task stores it as record 1, from outside of any turn', async () => {
      const { storage, clock } = tested;
      const create = newTask(tested, 't1', { history: [userMessage('m1')], metadata: { a: 1 } });
      expect(await storage.accept(acceptance(userMessage('m1'), create))).toEqual({
        kind: 'accepted',
        taskId: 't1',
        turn: 1,
        seq: 1,
      });
      expect(await storage.task(ALICE, 't1')).toEqual({
        scope: ALICE,
        task: create,
        seq: 1,
        epoch: 0,
        running: false,
        heldTurn: 0,
        createdAt: clock.now(),
      });
      const { records, floor, last } = await storage.records({ scope: ALICE, id: 't1' }, 0, 1_000);
      expect({ floor, last }).toEqual({ floor: 1, last: 1 });
      expect(only(records)).toMatchObject({ seq: 1, turn: 0, event: { task: create } });
    });

    it('claims its turn in the same commit', async () => {
      const create = newTask(tested, 't1', { history: [userMessage('m1')] });
      const caller = {
        user: { name: 'Alice', scopes: ['read'] },
        extensions: ['x:y'],
        version: '0.3',
        requestMetadata: { a: [1] },
      };
      const outcome = await tested.storage.accept(acceptance(userMessage('m1'), create, { claim: LEASE, caller }));
      expect(outcome).toEqual({
        kind: 'accepted',
        taskId: 't1',
        turn: 1,
        seq: 1,
        claim: {
          scope: ALICE,
          task: create,
          seq: 1,
          epoch: 1,
          turn: 1,
          attempt: 1,
          handOvers: 0,
          message: userMessage('m1'),
          caller,
          began: false,
        },
      });
      expect(await tested.storage.task(ALICE, 't1')).toMatchObject({ running: true, epoch: 1 });
    });

    it('for an existing task adds an execution and changes nothing else', async () => {
      const { storage } = tested;
      const create = newTask(tested, 't1');
      await storage.accept(acceptance(userMessage('m1'), create));
      expect(await storage.accept(acceptance(userMessage('m2'), 't1'))).toEqual({
        kind: 'accepted',
        taskId: 't1',
        turn: 2,
        seq: 1,
      });
      expect(await storage.task(ALICE, 't1')).toMatchObject({ task: create, seq: 1, epoch: 0, running: false });
    });

    it('claims the turn of an existing task with the task as it stands', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_WORKING', play.chunk('one', false)]);
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const claim = takeClaim(await storage.accept(acceptance(userMessage('m2'), 't1', { claim: LEASE })));
      expect(claim).toMatchObject({
        task: play.task,
        seq: 4,
        epoch: 2,
        turn: 2,
        attempt: 1,
        message: userMessage('m2'),
      });
      expect(claim).not.toHaveProperty('checkpoint');
      expect(claim).not.toHaveProperty('cancel');
    });

    it.each(['runs', 'waits'])('does not claim while another turn of the task %s', async (how) => {
      const { storage } = tested;
      await storage.accept(
        acceptance(userMessage('m1'), newTask(tested, 't1'), how === 'runs' ? { claim: LEASE } : {}),
      );
      const outcome = await storage.accept(acceptance(userMessage('m2'), 't1', { claim: LEASE }));
      expect(outcome).toEqual({
        kind: 'accepted',
        taskId: 't1',
        turn: 2,
        seq: 1,
      });
    });

    it('does not claim while a turn whose lease has ended is still to be taken over', async () => {
      const { storage, clock } = tested;
      await TaskPlay.begin(tested, 't1');
      clock.pass(LEASE.leaseMs + 1);
      const outcome = await storage.accept(acceptance(userMessage('m2'), 't1', { claim: LEASE }));
      expect(outcome).toEqual({
        kind: 'accepted',
        taskId: 't1',
        turn: 2,
        seq: 1,
      });
    });

    it('lets so many messages wait beside the running one, and no more', async () => {
      const { storage } = tested;
      await TaskPlay.begin(tested, 't1');
      const send = (id: string) => storage.accept(acceptance(userMessage(id), 't1', { waitingLimit: 2 }));
      expect([await send('m2'), await send('m3'), await send('m4')].map(({ kind }) => kind)).toEqual([
        'accepted',
        'accepted',
        'full',
      ]);
      await storage.release({ key: { scope: ALICE, id: 't1' }, turn: 1, epoch: 1, attempt: 1 }, 'done');
      expect((await send('m5')).kind).toBe('accepted');
    });

    it('refuses what does not fit, and writes nothing', async () => {
      const { storage } = tested;
      const ended = await TaskPlay.begin(tested, 'ended');
      await ended.write(['TASK_STATE_REJECTED'], { endsTurn: 1 });
      await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1', { contextId: 'c1' })));
      const send = (task: Acceptance['task'], scope = ALICE) =>
        storage.accept({ ...acceptance(userMessage('x'), 't1', { scope, idempotency: key }), task });
      const key = { key: 'k', digest: 'd', ttlMs: 1_000_000 };
      expect(await send({ id: 'unknown' })).toEqual({ kind: 'not-found' });
      expect(await send({ id: 't1' }, { ...ALICE, owner: 'bob' })).toEqual({ kind: 'not-found' });
      expect(await send({ id: 'ended' })).toEqual({ kind: 'terminal', state: 'TASK_STATE_REJECTED' });
      expect(await send({ id: 't1', contextId: 'c2' })).toEqual({ kind: 'other-context' });
      expect(await storage.keys.recall(ALICE, 'k')).toBeUndefined();
      expect(acceptedOf(await send({ id: 't1', contextId: 'c1' })).turn).toBe(2);
    });

    it('keeps the push configuration that comes with it (Spec §3.1.7)', async () => {
      const { storage } = tested;
      const config = { id: 'p1', url: 'https://example.com/hook', token: 's' };
      await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1'), { pushConfig: config }));
      expect(await storage.push.config(ALICE, 't1', 'p1')).toEqual({ ...config, taskId: 't1' });
      const { id: _, ...nameless } = config;
      await storage.accept(acceptance(userMessage('m2'), 't1', { pushConfig: nameless }));
      expect(await storage.push.config(ALICE, 't1', 't1')).toEqual({ ...config, id: 't1', taskId: 't1' });
    });

    it('rejects a new task under an id that its scope has taken', async () => {
      const { storage } = tested;
      await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1')));
      const again = storage.accept(acceptance(userMessage('m2'), newTask(tested, 't1')));
      await expect(again).rejects.toMatchObject({ name: 'StorageError' });
      for (const scope of [
        { ...ALICE, owner: 'bob' },
        { ...ALICE, agent: 'other' },
      ]) {
        const sameId = await storage.accept(acceptance(userMessage('m3'), newTask(tested, 't1'), { scope }));
        expect(sameId.kind).toBe('accepted');
      }
    });

    it('asked again after a lost answer is answered as the first time', async () => {
      const { storage } = tested;
      const fresh = acceptance(userMessage('m1'), newTask(tested, 't1'), { claim: LEASE });
      const first = await storage.accept(fresh);
      expect(await storage.accept({ ...fresh, again: true })).toEqual(first);
      const waiting = acceptance(userMessage('m2'), 't1', { claim: LEASE });
      const second = await storage.accept(waiting);
      expect(second).toEqual({ kind: 'accepted', taskId: 't1', turn: 2, seq: 1 });
      expect(await storage.accept({ ...waiting, again: true })).toEqual(second);
      expect(await storage.accept({ ...waiting, message: userMessage('m3'), again: true })).toMatchObject({ turn: 3 });
    });

    it('asked again brings no claim once its turn has written, or is held by another node', async () => {
      const { storage, clock } = tested;
      const fresh = acceptance(userMessage('first of t1'), newTask(tested, 't1'), { claim: LEASE });
      const play = new TaskPlay(tested, takeClaim(await storage.accept(fresh)));
      const again = { ...fresh, again: true };
      expect(await storage.accept({ ...again, claim: ELSEWHERE })).not.toHaveProperty('claim');
      await play.write(['TASK_STATE_WORKING']);
      expect(await storage.accept(again)).toEqual({ kind: 'accepted', taskId: 't1', turn: 1, seq: 2 });
      clock.pass(LEASE.leaseMs);
      await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 });
      expect(await storage.accept(again)).not.toHaveProperty('claim');
    });
  });

  describe('an idempotency key', () => {
    const tested = useStorage(open);
    const withKey = (ttlMs: number, digest = 'd') => ({ idempotency: { key: 'k', digest, ttlMs }, claim: LEASE });

    it('known already gives the first outcome, and nothing is written', async () => {
      const { storage } = tested;
      const more = (digest: string) => withKey(1_000, digest);
      await storage.accept(acceptance(userMessage('m1', 'first'), newTask(tested, 't1'), more('first')));
      const again = await storage.accept(
        acceptance(userMessage('m1', 'second'), newTask(tested, 't2'), more('second')),
      );
      expect(again).toEqual({ kind: 'repeated', first: { digest: 'first', outcome: { taskId: 't1', turn: 1 } } });
      expect(await storage.task(ALICE, 't2')).toBeUndefined();
    });

    it('answers before anything else is looked at', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1', withKey(1_000));
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      const again = await storage.accept(acceptance(userMessage('first of t1'), 't1', withKey(1_000)));
      expect(again).toMatchObject({ kind: 'repeated', first: { outcome: { taskId: 't1', turn: 1 } } });
    });

    it('names the turn it started', async () => {
      const { storage } = tested;
      await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1')));
      await storage.accept(acceptance(userMessage('m2'), 't1', withKey(1_000)));
      expect(await storage.keys.recall(ALICE, 'k')).toEqual({
        digest: 'd',
        outcome: { taskId: 't1', turn: 2 },
      });
    });

    it('is forgotten when its time is over', async () => {
      const { storage, clock } = tested;
      await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1'), withKey(1_000)));
      clock.pass(999);
      expect(await storage.keys.recall(ALICE, 'k')).toBeDefined();
      clock.pass(1);
      expect(await storage.keys.recall(ALICE, 'k')).toBeUndefined();
      const again = await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't2'), withKey(1_000)));
      expect(again).toMatchObject({ kind: 'accepted', taskId: 't2' });
      expect(await storage.keys.recall(ALICE, 'k')).toMatchObject({ outcome: { taskId: 't2' } });
    });

    it('is forgotten with its task', async () => {
      const { storage } = tested;
      await storage.accept(
        acceptance(userMessage('m1'), newTask(tested, 't1'), {
          idempotency: { key: 'k', digest: 'd', ttlMs: 1_000 },
        }),
      );
      await storage.delete(ALICE, 't1');
      expect(await storage.keys.recall(ALICE, 'k')).toBeUndefined();
      const again = await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't2'), withKey(1_000)));
      expect(again).toMatchObject({ kind: 'accepted', taskId: 't2' });
    });

    it('keeps direct replies too; the first outcome wins and is the answer to later ones', async () => {
      const { storage, clock } = tested;
      const key = { key: 'k', digest: 'd', ttlMs: 1_000 };
      const entry = (id: string) => ({ digest: 'd', outcome: { reply: userMessage(id) } });
      expect(await storage.keys.remember(ALICE, key, userMessage('r1'))).toEqual(entry('r1'));
      expect(await storage.keys.remember(ALICE, key, userMessage('r2'))).toEqual(entry('r1'));
      expect(await storage.keys.recall(ALICE, 'k')).toEqual(entry('r1'));
      const again = await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1'), { idempotency: key }));
      expect(again).toEqual({ kind: 'repeated', first: entry('r1') });
      clock.pass(1_000);
      expect(await storage.keys.remember(ALICE, key, userMessage('r3'))).toEqual(entry('r3'));
    });

    it('can be reserved by one node at a time, until its outcome is known', async () => {
      const { storage } = tested;
      const key = { key: 'k', digest: 'd', ttlMs: 100_000 };
      expect(await storage.keys.reserve(ALICE, key, LEASE)).toEqual({ kind: 'reserved' });
      expect(await storage.keys.reserve(ALICE, key, ELSEWHERE)).toEqual({ kind: 'taken', digest: 'd' });
      expect(await storage.keys.reserve({ ...ALICE, owner: 'bob' }, key, ELSEWHERE)).toEqual({ kind: 'reserved' });
      expect(await storage.keys.recall(ALICE, 'k')).toBeUndefined();
      const first = await storage.keys.remember(ALICE, key, userMessage('r'));
      expect(await storage.keys.reserve(ALICE, key, ELSEWHERE)).toEqual({ kind: 'known', first });
      expect(await storage.keys.reserve(ALICE, key, LEASE)).toEqual({ kind: 'known', first });
    });

    it('is free for others when its reservation is given back, or not extended', async () => {
      const { storage, clock } = tested;
      const key = { key: 'k', digest: 'd', ttlMs: 100_000 };
      await storage.keys.reserve(ALICE, key, LEASE);
      await storage.keys.unreserve(ALICE, 'k', ELSEWHERE.node);
      expect(await storage.keys.reserve(ALICE, key, ELSEWHERE)).toMatchObject({ kind: 'taken' });
      await storage.keys.unreserve(ALICE, 'k', LEASE.node);
      expect(await storage.keys.reserve(ALICE, key, ELSEWHERE)).toEqual({ kind: 'reserved' });
      clock.pass(ELSEWHERE.leaseMs - 1);
      expect(await storage.keys.reserve(ALICE, key, ELSEWHERE)).toEqual({ kind: 'reserved' });
      clock.pass(ELSEWHERE.leaseMs - 1);
      expect(await storage.keys.reserve(ALICE, key, LEASE)).toMatchObject({ kind: 'taken' });
      clock.pass(1);
      expect(await storage.keys.reserve(ALICE, key, LEASE)).toEqual({ kind: 'reserved' });
    });

    it('that a node has reserved lets only that node accept its message', async () => {
      const { storage } = tested;
      const key = { key: 'k', digest: 'd', ttlMs: 100_000 };
      await storage.keys.reserve(ALICE, key, LEASE);
      const send = (claim: typeof LEASE) =>
        storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1'), { idempotency: key, claim }));
      expect(await send(ELSEWHERE)).toEqual({ kind: 'reserved' });
      expect(await send(LEASE)).toMatchObject({ kind: 'accepted' });
      expect(await send(LEASE)).toMatchObject({ kind: 'repeated', first: { outcome: { taskId: 't1', turn: 1 } } });
    });

    it('goes when newer ones need its room', async () => {
      const { storage } = tested;
      const reply = { ...userMessage('r'), parts: [{ text: 'x'.repeat(8 * 1_048_576) }] };
      for (let at = 0; at < 9; at += 1) {
        await storage.keys.remember(ALICE, { key: `k${at}`, digest: 'd', ttlMs: 1_000 + at }, reply);
      }
      // A server has room for all of them.
      if (!storage.shared) expect(await storage.keys.recall(ALICE, 'k0')).toBeUndefined();
      expect(await storage.keys.recall(ALICE, 'k8')).toEqual({ digest: 'd', outcome: { reply } });
    });

    it('belongs to one scope', async () => {
      const { storage } = tested;
      const key = { key: 'k', digest: 'd', ttlMs: 1_000 };
      const scopes = [ALICE, { ...ALICE, owner: null }, { ...ALICE, owner: '' }, { ...ALICE, tenant: 'x' }];
      for (const [index, scope] of scopes.entries()) {
        expect(await storage.keys.recall(scope, 'k')).toBeUndefined();
        await storage.keys.remember(scope, key, userMessage(`r${index}`));
      }
      for (const [index, scope] of scopes.entries()) {
        expect(await storage.keys.recall(scope, 'k')).toMatchObject({ outcome: { reply: userMessage(`r${index}`) } });
      }
    });
  });
}
