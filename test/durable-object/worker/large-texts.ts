import type { ObjectContext } from 'parley-a2a-durable-object';
import { describe, expect, it } from 'vitest';
import { ALICE, acceptance, newTask, said, TaskPlay } from '../../contract/storage/task-play.js';
import { type OpenStorage, useStorage } from '../../contract/storage/tested-storage.js';

/** Longer than a row of a Durable Object. A surrogate pair lies across the end of each part. */
const LARGE = `x${'😀'.repeat(1_300_000)}`;

/** Values longer than a row. */
export function largeTextsContract({ storage: { sql } }: ObjectContext, open: OpenStorage): void {
  describe('values longer than a row', () => {
    const tested = useStorage(open);
    const parts = () =>
      (sql.exec('SELECT count(*) AS count FROM long_text').toArray() as { count: number }[])[0]?.count;

    it('come back whole, and go with what has them', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const message = { ...said('large'), parts: [{ text: LARGE }] };
      await storage.accept(acceptance(message, 't1'));
      expect(parts()).toBe(6);
      await play.write([play.chunk(LARGE, false), play.status('TASK_STATE_WORKING', { message })]);
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
      const { records } = await storage.records(play.key, 0, 100_000_000);
      expect(records.map(({ text }) => text.length > 2_000_000)).toEqual([false, true, true]);
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
      const request = { node: 'n', leaseMs: 1_000, agents: ['test'], limit: 1 };
      const { claims } = await storage.claim(request);
      expect(claims[0]?.message).toEqual(message);
      clock.pass(1_000);
      expect(await storage.delete(ALICE, 't1')).toBe('deleted');
      expect(parts()).toBe(0);
    });

    it('go when they are replaced', async () => {
      const { storage } = tested;
      const status = { state: 'TASK_STATE_WORKING' as const, message: { ...said('w'), parts: [{ text: LARGE }] } };
      await storage.create(ALICE, newTask(tested, 't1', { status }));
      expect(parts()).toBe(12);
      const stored = await storage.task(ALICE, 't1');
      if (stored === undefined) throw new Error('The task is not there');
      const play = new TaskPlay(tested, stored);
      await play.write(['TASK_STATE_WORKING'], { authority: 'idle' });
      // The record of the task still has it.
      expect(parts()).toBe(6);
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
    });
  });
}
