import { describe, expect, it } from 'vitest';
import { ALICE, acceptance, claimsOf, ELSEWHERE, LEASE, newTask, only, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of cancel requests. */
export function cancelingContract(open: OpenStorage): void {
  describe('a request to cancel', () => {
    const tested = useStorage(open);
    const renewTurn = async (play: TaskPlay) => only(await tested.storage.renew({ ...LEASE, turns: [play.held] }));

    it('is kept with the running turn and told by its next heartbeats', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_WORKING']);
      expect(await renewTurn(play)).toEqual({ held: true });
      expect(await storage.requestCancel(ALICE, 't1', { metadata: { reason: 'r' } })).toEqual({
        kind: 'requested',
        seq: 2,
        turn: 1,
      });
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
      for (const _ of [1, 2])
        expect(await renewTurn(play)).toEqual({ held: true, cancel: { metadata: { reason: 'r' } } });
    });

    it('is found by whoever takes the turn over', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.requestCancel(ALICE, 't1', {});
      clock.pass(LEASE.leaseMs);
      expect(await storage.requestCancel(ALICE, 't1', {})).toEqual({
        kind: 'requested',
        seq: 1,
        turn: 1,
        stored: await storage.task(ALICE, 't1'),
      });
      const next = only(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 }));
      expect(next.cancel).toEqual({});
      await storage.release({ ...play.held, epoch: next.epoch, attempt: 1 }, 'again');
      expect(only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 1 })).cancel).toEqual({});
    });

    it('that comes again adds its metadata', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.requestCancel(ALICE, 't1', { metadata: { a: 1, b: 1 } });
      await storage.requestCancel(ALICE, 't1', {});
      await storage.requestCancel(ALICE, 't1', { metadata: { b: 2 } });
      expect(await renewTurn(play)).toEqual({ held: true, cancel: { metadata: { a: 1, b: 2 } } });
    });

    it('is not kept where no turn runs', async () => {
      const { storage } = tested;
      await storage.accept(acceptance(userMessage('m'), newTask(tested, 't1')));
      expect(await storage.requestCancel(ALICE, 't1', {})).toMatchObject({
        kind: 'requested',
        seq: 1,
        stored: { seq: 1, running: false },
      });
      expect(await storage.requestCancel(ALICE, 't1', {})).not.toHaveProperty('turn');
      expect(only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 1 }))).not.toHaveProperty('cancel');
    });

    it('does not outlive its turn', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.requestCancel(ALICE, 't1', {});
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const outcome = await storage.accept(acceptance(userMessage('m2'), 't1', { claim: LEASE }));
      expect(outcome).not.toHaveProperty('claim.cancel');
    });

    it('is refused for a task that has ended or is not there', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_CANCELED'], { endsTurn: 1 });
      expect(await storage.requestCancel(ALICE, 't1', {})).toEqual({ kind: 'terminal', state: 'TASK_STATE_CANCELED' });
      expect(await storage.requestCancel(ALICE, 'unknown', {})).toEqual({ kind: 'not-found' });
    });
  });
}
