import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../packages/parley/src/errors/storage-error.js';
import { EVERY_CALL } from './every-call.js';
import { ALICE, acceptance, claimsOf, LEASE, newTask, TaskPlay, takeClaim, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of health checks, and of a closed storage. */
export function checkingContract(open: OpenStorage): void {
  const work = (waiting: number, oldestWaitMs?: number) => ({ waiting, oldestWaitMs, pendingDeliveries: 0 });
  describe('looking whether it works', () => {
    const tested = useStorage(open);

    it('counts the messages whose turn nobody runs, of all agents', async () => {
      const { storage } = tested;
      expect(await storage.check()).toEqual(work(0));
      const play = await TaskPlay.begin(tested, 'running');
      expect(await storage.check()).toEqual(work(0));
      await storage.accept(acceptance(userMessage('a'), 'running'));
      await storage.accept(acceptance(userMessage('b'), 'running'));
      await storage.accept(acceptance(userMessage('c'), newTask(tested, 'waits')));
      const scope = { ...ALICE, agent: 'other' };
      await storage.accept(acceptance(userMessage('d'), newTask(tested, 'waits too'), { scope }));
      expect(await storage.check()).toEqual(work(4, 0));
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      expect(await storage.check()).toEqual(work(2, 0));
      await claimsOf(storage, { ...LEASE, agents: ['test', 'other'], limit: 10 });
      expect(await storage.check()).toEqual(work(0));
    });

    it('tells the age of the oldest message that a node could claim', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 'running');
      // This message waits for the running turn of its task.
      await storage.accept(acceptance(userMessage('behind'), 'running'));
      clock.pass(1_000);
      await storage.accept(acceptance(userMessage('first'), newTask(tested, 'first')));
      clock.pass(2_000);
      const scope = { ...ALICE, agent: 'other' };
      await storage.accept(acceptance(userMessage('second'), newTask(tested, 'second'), { scope }));
      clock.pass(500);
      expect(await storage.check()).toEqual(work(3, 2_500));
      await play.write(['TASK_STATE_WORKING'], { endsTurn: 1 });
      expect(await storage.check()).toEqual(work(3, 3_500));
      const claims = await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 10 });
      expect(await storage.check()).toEqual(work(1, 500));
      // A released turn counts as waiting since the arrival of its message.
      for (const { scope: at, task, turn, epoch } of claims)
        await storage.release({ key: { scope: at, id: task.id }, turn, epoch, attempt: 1 }, 'handover');
      expect(await storage.check()).toEqual(work(3, 3_500));
    });

    it('counts pending deliveries, and tells for how long the oldest one is due', async () => {
      const { storage, clock } = tested;
      const pushConfig = { id: 'hook', url: 'https://example.com/hook' };
      for (const id of ['t1', 't2']) {
        await TaskPlay.begin(tested, id, { pushConfig });
        clock.pass(1_000);
      }
      expect(await storage.check()).toMatchObject({ pendingDeliveries: 2, oldestDueMs: 2_000 });
      const request = { ...LEASE, agents: ['test'], limit: 1, maxBytes: 1_000 };
      const [first] = (await storage.push.claim(request)).claims;
      if (first === undefined) throw new Error('No queue is due');
      await storage.push.settle(first, { kind: 'retry', inMs: 5_000, status: 503 });
      expect(await storage.check()).toMatchObject({ pendingDeliveries: 2, oldestDueMs: 1_000 });
      const [second] = (await storage.push.claim(request)).claims;
      if (second === undefined) throw new Error('No queue is due');
      await storage.push.settle(second, { kind: 'delivered', through: second.last, status: 200 });
      expect(await storage.check()).toMatchObject({ pendingDeliveries: 1, oldestDueMs: 0 });
      clock.pass(5_100);
      expect(await storage.check()).toMatchObject({ pendingDeliveries: 1, oldestDueMs: 100 });
      const [again] = (await storage.push.claim(request)).claims;
      if (again === undefined) throw new Error('No queue is due');
      await storage.push.settle(again, { kind: 'park', reason: 'gone' });
      expect(await storage.check()).toEqual(work(0));
    });

    it('changes nothing that anybody sees', async () => {
      const { storage, clock } = tested;
      const claim = takeClaim(
        await storage.accept(acceptance(userMessage('m'), newTask(tested, 't'), { claim: LEASE })),
      );
      const before = await storage.task(ALICE, 't');
      await Promise.all([storage.check(), storage.check(), storage.check()]);
      expect(await storage.task(ALICE, 't')).toEqual(before);
      const held = { key: { scope: ALICE, id: 't' }, turn: claim.turn, epoch: claim.epoch };
      expect(await storage.renew({ ...LEASE, turns: [held] })).toEqual([{ held: true }]);
      clock.pass(1);
      expect(await storage.check()).toEqual(work(0));
    });

    it('refuses every call once it is closed', async () => {
      const { storage } = tested;
      await storage.close();
      const refused = new StorageError('The storage is closed');
      for (const [name, call] of Object.entries(EVERY_CALL)) {
        await expect(call(storage), name).rejects.toThrow(refused);
      }
    });
  });
}
