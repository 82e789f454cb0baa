import { describe, expect, it } from 'vitest';
import type { OwnedTask } from '../../../packages/parley/src/store/owner-storage.js';
import type { Scope } from '../../../packages/parley/src/store/task-key.js';
import { ALICE, LEASE, newTask, TaskPlay, timestamp } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

const BOB: Scope = { agent: 'other', tenant: 'acme', owner: 'bob "\u{10000}' };
const NOBODY: Scope = { agent: 'test', tenant: '', owner: null };

/** The contract of the list of the tasks of all owners. */
export function allTasksContract(open: OpenStorage): void {
  describe('the list of the tasks of all owners', () => {
    const tested = useStorage(open);
    const list = async (hasEnded: boolean, limit = 100): Promise<OwnedTask[]> => {
      const found: OwnedTask[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await tested.storage.owners.allTasks({
          hasEnded,
          limit,
          ...(cursor !== undefined && { cursor }),
        });
        expect(page.tasks.length).toBeLessThanOrEqual(limit);
        found.push(...page.tasks);
        if (page.isLast) return found;
        cursor = page.tasks.at(-1)?.cursor;
      }
    };
    const names = (tasks: readonly OwnedTask[]) => tasks.map(({ key }) => `${key.scope.owner} ${key.id}`);

    it('has open tasks by their last status, the oldest first', async () => {
      const { clock } = tested;
      const early = await TaskPlay.begin(tested, 'early');
      clock.pass(10);
      // The same id for another owner, in another agent.
      await TaskPlay.begin(tested, 'early', { scope: BOB });
      clock.pass(10);
      // The application has made this task. No turn belongs to it.
      await tested.storage.create(NOBODY, newTask(tested, 'made'));
      clock.pass(10);
      const asks = await TaskPlay.begin(tested, 'asks');
      await asks.write([asks.status('TASK_STATE_INPUT_REQUIRED')]);
      clock.pass(10);
      await early.write([early.status('TASK_STATE_WORKING')]);
      for (const limit of [100, 1, 3]) {
        expect(names(await list(false, limit))).toEqual([
          `${BOB.owner} early`,
          'null made',
          'alice asks',
          'alice early',
        ]);
      }
      expect(await list(true)).toEqual([]);
    });

    it('has the facts of a task without its content', async () => {
      const { clock } = tested;
      const createdAt = clock.now();
      const play = await TaskPlay.begin(tested, 't1', { scope: BOB });
      clock.pass(5);
      await play.write([play.status('TASK_STATE_WORKING'), play.chunk('x')]);
      const [task, ...none] = await list(false);
      expect(none).toEqual([]);
      const { cursor, ...facts } = task ?? ({} as OwnedTask);
      expect(cursor).toBeTypeOf('string');
      expect(facts).toEqual({
        key: { scope: BOB, id: 't1' },
        contextId: 'context of t1',
        state: 'TASK_STATE_WORKING',
        statusTime: createdAt + 5,
        createdAt,
        seq: play.seq,
        running: true,
        heldTurn: 1,
      });
    });

    it('tells a lease that has ended from one that lasts, and from none', async () => {
      await TaskPlay.begin(tested, 'held');
      await tested.storage.create(ALICE, newTask(tested, 'made'));
      const leases = async () => (await list(false)).map(({ key, running, heldTurn }) => [key.id, running, heldTurn]);
      expect((await leases()).sort()).toEqual([
        ['held', true, 1],
        ['made', false, 0],
      ]);
      tested.clock.pass(LEASE.leaseMs + 1);
      expect((await leases()).sort()).toEqual([
        ['held', false, 1],
        ['made', false, 0],
      ]);
    });

    it('has finished tasks by their end, the last one first', async () => {
      const { clock } = tested;
      for (const [id, scope] of [
        ['a', ALICE],
        ['b', BOB],
        ['c', NOBODY],
        ['d', ALICE],
      ] as const) {
        const play = await TaskPlay.begin(tested, id, { scope });
        clock.pass(3);
        await play.write([play.status(id === 'b' ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED')]);
      }
      await TaskPlay.begin(tested, 'open');
      for (const limit of [100, 1, 3]) {
        expect(names(await list(true, limit))).toEqual(['alice d', 'null c', `${BOB.owner} b`, 'alice a']);
      }
      expect(names(await list(false))).toEqual(['alice open']);
      await tested.storage.delete(ALICE, 'd');
      expect(names(await list(true))).toEqual(['null c', `${BOB.owner} b`, 'alice a']);
    });

    it('has each of many tasks of the same moment once', async () => {
      const scopes = [ALICE, BOB, NOBODY];
      for (const scope of scopes) {
        for (let at = 0; at < 45; at += 1) await tested.storage.create(scope, newTask(tested, `open ${at}`));
        for (let at = 0; at < 35; at += 1) {
          const status = { state: 'TASK_STATE_CANCELED', timestamp: timestamp(tested) } as const;
          await tested.storage.create(scope, newTask(tested, `ended ${at}`, { status }));
        }
      }
      for (const [hasEnded, count] of [
        [false, 135],
        [true, 105],
      ] as const) {
        for (const limit of [7, 50]) {
          const found = names(await list(hasEnded, limit));
          expect(found).toHaveLength(count);
          expect(new Set(found).size).toBe(count);
        }
      }
    });

    it('answers a cursor that is none', async () => {
      await TaskPlay.begin(tested, 't1');
      for (const cursor of [
        '',
        'x',
        '1e400 1',
        '5',
        `${'9'.repeat(30)} x`,
        '1 ["a"]',
        '-1.5 2.5',
        '1 99999999999999999999',
      ]) {
        for (const hasEnded of [false, true]) {
          expect((await tested.storage.owners.allTasks({ hasEnded, cursor, limit: 5 })).isLast).toBe(true);
        }
      }
    });
  });
}
