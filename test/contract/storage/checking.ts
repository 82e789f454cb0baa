import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../packages/parley/src/errors/storage-error.js';
import { ALICE, acceptance, claimed, claimsOf, LEASE, newTask, said, TaskPlay } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of health checks. */
export function checkingContract(open: OpenStorage): void {
  describe('looking whether it works', () => {
    const tested = useStorage(open);

    it('counts the messages whose turn nobody runs, of all agents', async () => {
      const { storage } = tested;
      expect(await storage.check()).toEqual({ waiting: 0 });
      const play = await TaskPlay.begin(tested, 'running');
      expect(await storage.check()).toEqual({ waiting: 0 });
      await storage.accept(acceptance(said('a'), 'running'));
      await storage.accept(acceptance(said('b'), 'running'));
      await storage.accept(acceptance(said('c'), newTask(tested, 'waits')));
      const scope = { ...ALICE, agent: 'other' };
      await storage.accept(acceptance(said('d'), newTask(tested, 'waits too'), { scope }));
      expect(await storage.check()).toEqual({ waiting: 4 });
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      expect(await storage.check()).toEqual({ waiting: 2 });
      await claimsOf(storage, { ...LEASE, agents: ['test', 'other'], limit: 10 });
      expect(await storage.check()).toEqual({ waiting: 0 });
    });

    it('changes nothing that anybody sees', async () => {
      const { storage, clock } = tested;
      const claim = claimed(await storage.accept(acceptance(said('m'), newTask(tested, 't'), { claim: LEASE })));
      const before = await storage.task(ALICE, 't');
      await Promise.all([storage.check(), storage.check(), storage.check()]);
      expect(await storage.task(ALICE, 't')).toEqual(before);
      const held = { key: { scope: ALICE, id: 't' }, turn: claim.turn, epoch: claim.epoch };
      expect(await storage.renew({ ...LEASE, turns: [held] })).toEqual([{ held: true }]);
      clock.pass(1);
      expect(await storage.check()).toEqual({ waiting: 0 });
    });

    it('rejects once it is closed', async () => {
      const { storage } = tested;
      await storage.close();
      await expect(storage.check()).rejects.toThrow(StorageError);
    });
  });
}
