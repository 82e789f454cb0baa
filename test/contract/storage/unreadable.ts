import { beforeEach, describe, expect, it } from 'vitest';
import { UnreadableTaskError } from '../../../packages/parley/src/errors/unreadable-task-error.js';
import type { DeliveryClaim } from '../../../packages/parley/src/store/push-storage.js';
import type { TaskQuery, TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import type { Logger } from '../../../packages/parley/src/telemetry/logger.js';
import { CapturingLogger } from '../../../packages/parley/test/engine.js';
import { ALICE, LEASE, TaskPlay } from './task-play.js';
import { StorageClock, type Tested } from './tested-storage.js';

/** The stored text of a task that a test replaces. `record 2` is the second element of its log. */
export type StoredText = 'status' | 'history' | 'record 1' | 'record 2' | 'config';

/** An empty storage whose bytes a test can change. */
export interface Corruptible {
  readonly storage: TaskStorage;
  /** Replaces a stored text. */
  readonly corrupt: (taskId: string, where: StoredText, text: string) => Promise<void>;
}

const NO_JSON = '{"secret-text';
const FROM_LATER = '{"laterUpdate":{"text":"secret-text"}}';
const PUSH = { id: 'hook', url: 'https://example.com/hook' };
const QUERY: TaskQuery = { scope: ALICE, orderBy: 'status', limit: 10, artifacts: true, history: true };
const DELIVERIES = { ...LEASE, agents: ['test'], limit: 10, maxBytes: 1_000_000 };

/** The contract for a task whose stored texts cannot be read: it is skipped, and does not affect others. */
export function unreadableContract(name: string, open: (clock: StorageClock, logger: Logger) => Promise<Corruptible>) {
  describe(`${name} storage, a task that cannot be read`, () => {
    const logger = new CapturingLogger();
    let tested: Tested & Corruptible;
    beforeEach(async () => {
      logger.lines.length = 0;
      const clock = new StorageClock();
      tested = { clock, ...(await open(clock, logger)) };
      return () => tested.storage.close();
    });

    const openTask = async (id: string) => {
      tested.clock.pass(1);
      const play = await TaskPlay.begin(tested, id);
      await play.write([play.chunk('a')]);
      await play.write([play.chunk('b')]);
    };
    const endedTask = async (id: string) => {
      tested.clock.pass(1);
      const play = await TaskPlay.begin(tested, id);
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
    };
    const loggedErrors = () => logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);

    it.each([
      ['the status of a finished one', endedTask, 'status', NO_JSON],
      ['the history of a finished one', endedTask, 'history', NO_JSON],
      ['the first record of an open one', openTask, 'record 1', NO_JSON],
      ['a later record of an open one', openTask, 'record 2', NO_JSON],
      ['a record of a newer version', openTask, 'record 2', FROM_LATER],
    ] as const)('is left out of a page that shows the others, and is told once (%s)', async (_, make, where, text) => {
      for (const id of ['t0', 't1', 't2']) await make(id);
      const { storage, corrupt } = tested;
      await corrupt('t1', where, text);
      for (const _again of [1, 2]) {
        const { total, ...page } = await storage.tasks(QUERY);
        expect(page.tasks.map(({ task }) => task.id)).toEqual(['t2', 't0']);
        expect(total).toBe(3);
      }
      const first = await storage.tasks({ ...QUERY, limit: 2 });
      expect(first.tasks.map(({ task }) => task.id)).toEqual(['t2']);
      const rest = await storage.tasks({ ...QUERY, limit: 2, ...(first.next && { cursor: first.next }) });
      expect(rest.tasks.map(({ task }) => task.id)).toEqual(['t0']);
      expect(loggedErrors()).toEqual([expect.objectContaining({ taskId: 't1' })]);
      expect(await storage.check()).toMatchObject({ unreadable: 1 });

      await expect(storage.task(ALICE, 't1')).rejects.toThrow(UnreadableTaskError);
      expect((await storage.task(ALICE, 't0'))?.task.id).toBe('t0');
      expect(loggedErrors()).toHaveLength(1);
      expect(JSON.stringify(logger.lines)).not.toContain('secret');
    });

    it('is no reason to keep others from their expiry', async () => {
      for (const id of ['t0', 't1', 't2', 't3']) {
        const play = await TaskPlay.begin(tested, id);
        await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1, withSnapshot: true });
        tested.clock.pass(1);
      }
      for (const id of ['t0', 't1', 't2']) await tested.corrupt(id, 'history', NO_JSON);
      const found = await tested.storage.abandoned(['test'], -1, 2);
      expect(found.map(({ task }) => task.id)).toEqual(['t3']);
      expect(await tested.storage.check()).toMatchObject({ unreadable: 3 });
    });

    it.each([
      ['its configuration', 'config', NO_JSON],
      ['its next record', 'record 1', NO_JSON],
      ['its next record, of a newer version', 'record 1', FROM_LATER],
    ] as const)('has its deliveries parked, and those of others go on (%s)', async (_, where, text) => {
      const { storage, corrupt } = tested;
      for (const id of ['t0', 't1', 't2']) await TaskPlay.begin(tested, id, { pushConfig: PUSH });
      await corrupt('t1', where, text);
      const { claims } = await storage.push.claim(DELIVERIES);
      expect(ofTasks(claims)).toEqual(['t0', 't2']);
      const parked = await storage.push.queues({ standing: 'parked', limit: 10 });
      expect(parked.queues).toMatchObject([
        { key: { scope: ALICE, id: 't1' }, configId: 'hook', parked: expect.stringContaining('cannot be read') },
      ]);
      expect(loggedErrors()).toHaveLength(1);
      expect(JSON.stringify([logger.lines, parked])).not.toContain('secret');
      // A replay parks the queue again, without a second line in the log.
      expect(await storage.push.replay({ key: { scope: ALICE, id: 't1' }, configId: 'hook' })).toBe('replayed');
      expect((await storage.push.claim(DELIVERIES)).claims).toEqual([]);
      expect((await storage.push.queues({ standing: 'parked', limit: 10 })).queues).toHaveLength(1);
      expect(loggedErrors()).toHaveLength(1);
    });

    it('has its deliveries made up to the record that cannot be read', async () => {
      const { storage, corrupt } = tested;
      const play = await TaskPlay.begin(tested, 't1', { pushConfig: PUSH });
      await play.write([play.chunk('a')]);
      await play.write([play.chunk('b')]);
      await corrupt('t1', 'record 2', NO_JSON);
      const [claim, ...more] = (await storage.push.claim(DELIVERIES)).claims;
      if (claim === undefined) throw new Error('Nothing was claimed');
      expect(more).toEqual([]);
      expect(claim.records.map(({ seq }) => seq)).toEqual([1]);
      await storage.push.settle(claim, { kind: 'delivered', through: 1, status: 200 });
      expect((await storage.push.claim(DELIVERIES)).claims).toEqual([]);
      expect((await storage.push.queues({ standing: 'parked', limit: 10 })).queues).toMatchObject([{ position: 1 }]);
    });

    it('has configurations of which the readable ones are listed', async () => {
      const { storage, corrupt } = tested;
      await TaskPlay.begin(tested, 't1', { pushConfig: PUSH });
      await storage.push.putConfig(ALICE, { ...PUSH, id: 'other', taskId: 't1' });
      await corrupt('t1', 'config', NO_JSON);
      expect(await storage.push.configs(ALICE, 't1', { limit: 10 })).toMatchObject([{ id: 'other' }]);
      await expect(storage.push.config(ALICE, 't1', 'hook')).rejects.toThrow(UnreadableTaskError);
      expect(await storage.push.deleteConfig(ALICE, 't1', 'hook')).toBe(true);
    });
  });
}

function ofTasks(claims: readonly DeliveryClaim[]): readonly string[] {
  return claims.map(({ key }) => key.id).sort();
}
