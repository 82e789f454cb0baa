import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../packages/parley/src/model/task.js';
import { isTerminal, TASK_STATES, type TaskState } from '../../../packages/parley/src/model/task-state.js';
import type { TaskPage, TaskQuery } from '../../../packages/parley/src/store/task-storage.js';
import { statusTime } from '../../../packages/parley/src/task/status-time.js';
import { ALICE, acceptance, newTask, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, StorageClock, type Tested, useStorage } from './tested-storage.js';

type Asked = Partial<Omit<TaskQuery, 'scope'>>;

const list = ({ storage }: Tested, asked: Asked = {}): Promise<TaskPage> =>
  storage.tasks({ scope: ALICE, orderBy: 'status', limit: 10_000, artifacts: false, history: false, ...asked });
const idsOf = ({ tasks }: TaskPage): string[] => tasks.map(({ task }) => task.id);

/** Returns the expected list, by the simplest code. */
function expectedPage(
  all: readonly { task: Task; createdAt: number }[],
  asked: Asked,
): { ids: string[]; total: number } {
  const {
    contextId,
    states = [],
    statusAfter,
    createdAfter,
    createdBefore,
    cursor,
    offset = 0,
    limit = 10_000,
  } = asked;
  const rows = all.map(({ task, createdAt }) => ({ task, createdAt, statusAt: statusTime(task.status) }));
  const time = (row: (typeof rows)[number]) => (asked.orderBy === 'created' ? row.createdAt : row.statusAt);
  const matching = rows
    .filter(({ task }) => contextId === undefined || task.contextId === contextId)
    .filter(({ task }) => states.length === 0 || states.includes(task.status.state))
    .filter(({ statusAt }) => statusAfter === undefined || statusAt >= statusAfter)
    .filter(({ createdAt }) => createdAfter === undefined || createdAt > createdAfter)
    .filter(({ createdAt }) => createdBefore === undefined || createdAt < createdBefore)
    .sort((a, b) => time(b) - time(a) || (a.task.id < b.task.id ? 1 : -1));
  const behind = matching.filter(
    (row) => cursor === undefined || time(row) < cursor.time || (time(row) === cursor.time && row.task.id < cursor.id),
  );
  return { ids: behind.slice(offset, offset + limit).map(({ task }) => task.id), total: matching.length };
}

/** The contract of lists: content, order and pages. */
export function listsContract(open: OpenStorage): void {
  describe('a list', () => {
    const tested = useStorage(open);

    const createAll = async (tasks: readonly (readonly [id: string, state: TaskState, context?: string])[]) => {
      for (const [id, state, contextId = 'c'] of tasks) {
        const status = { state, timestamp: new Date(tested.clock.pass(1)).toISOString() };
        await tested.storage.create(ALICE, newTask(tested, id, { contextId, status }));
      }
    };

    it('of nothing is empty', async () => {
      expect(await list(tested)).toEqual({ tasks: [], total: 0 });
      expect(await list(tested, { contextId: 'c', states: ['TASK_STATE_WORKING'], orderBy: 'created' })).toEqual({
        tasks: [],
        total: 0,
      });
    });

    it('shows the newest status first, the id breaks ties (Spec §3.1.4)', async () => {
      const { storage } = tested;
      for (const id of ['b', 'd', 'a', 'c']) await storage.create(ALICE, newTask(tested, id));
      tested.clock.pass(10);
      await storage.create(ALICE, newTask(tested, '0'));
      expect(idsOf(await list(tested))).toEqual(['0', 'd', 'c', 'b', 'a']);
    });

    it('follows the status of a task through its life', async () => {
      const { clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      clock.pass(1);
      await createAll([['t2', 'TASK_STATE_INPUT_REQUIRED']]);
      for (const state of ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED'] as const) {
        expect(idsOf(await list(tested))).toHaveLength(2);
        clock.pass(1);
        await play.write([state]);
        expect(idsOf(await list(tested))).toEqual(['t1', 't2']);
        expect(idsOf(await list(tested, { states: [state] }))).toContain('t1');
        expect((await list(tested, { states: ['TASK_STATE_SUBMITTED'] })).total).toBe(0);
        expect((await list(tested, { states: [state] })).total).toBe(state === 'TASK_STATE_INPUT_REQUIRED' ? 2 : 1);
        expect((await list(tested, { contextId: play.contextId, states: [state] })).total).toBe(1);
      }
      const [newest] = (await list(tested)).tasks;
      expect(newest).toMatchObject({ scope: ALICE, seq: 4, epoch: 1, running: false });
      expect(newest?.task.status).toEqual(play.task.status);
    });

    it('says which tasks run', async () => {
      await TaskPlay.begin(tested, 't1');
      expect((await list(tested)).tasks[0]?.running).toBe(true);
      tested.clock.pass(60_000);
      expect((await list(tested)).tasks[0]?.running).toBe(false);
    });

    it('filters by context and by several states at once (Spec §3.1.4)', async () => {
      await createAll([
        ['1', 'TASK_STATE_WORKING', 'x'],
        ['2', 'TASK_STATE_COMPLETED', 'x'],
        ['3', 'TASK_STATE_WORKING', 'y'],
        ['4', 'TASK_STATE_FAILED', 'x'],
      ]);
      const states = ['TASK_STATE_FAILED', 'TASK_STATE_WORKING', 'TASK_STATE_FAILED'] as const;
      expect(idsOf(await list(tested, { states }))).toEqual(['4', '3', '1']);
      expect((await list(tested, { states })).total).toBe(3);
      expect(idsOf(await list(tested, { states, contextId: 'x' }))).toEqual(['4', '1']);
      expect(idsOf(await list(tested, { contextId: 'z' }))).toEqual([]);
      expect(idsOf(await list(tested, { states: [] }))).toHaveLength(4);
    });

    it('follows a context from its first task to its last, beside the same context of another caller', async () => {
      const { storage } = tested;
      const create = { create: newTask(tested, '1', { contextId: 'x' }), isContextNew: true };
      await storage.accept({ ...acceptance(userMessage('m1'), '1'), task: create });
      await storage.create({ ...ALICE, owner: 'bob' }, newTask(tested, 'other', { contextId: 'x' }));
      const states = ['TASK_STATE_WORKING'] as const;
      const listCreated = async () => {
        const all = await list(tested, { contextId: 'x', orderBy: 'created' });
        expect(idsOf(await list(tested, { contextId: 'x' }))).toEqual(idsOf(all));
        return { ids: idsOf(all), total: all.total, working: (await list(tested, { contextId: 'x', states })).total };
      };
      expect(await listCreated()).toEqual({ ids: ['1'], total: 1, working: 0 });
      await createAll([['2', 'TASK_STATE_WORKING', 'x']]);
      expect(await listCreated()).toEqual({ ids: ['2', '1'], total: 2, working: 1 });
      await createAll([['3', 'TASK_STATE_COMPLETED', 'x']]);
      expect(await listCreated()).toEqual({ ids: ['3', '2', '1'], total: 3, working: 1 });
      await storage.delete(ALICE, '1');
      await storage.delete(ALICE, '3');
      expect(await listCreated()).toEqual({ ids: ['2'], total: 1, working: 1 });
      await storage.delete(ALICE, '2');
      expect(await listCreated()).toEqual({ ids: [], total: 0, working: 0 });
      await createAll([['4', 'TASK_STATE_WORKING', 'x']]);
      expect(await listCreated()).toEqual({ ids: ['4'], total: 1, working: 1 });
      const since = { contextId: 'x', createdAfter: tested.clock.now() };
      expect((await list(tested, since)).total).toBe(0);
    });

    it('includes the bound of the status time, excludes those of creation (Spec §3.1.4)', async () => {
      const { clock } = tested;
      const start = clock.now();
      await createAll([1, 2, 3, 4].map((n) => [`${n}`, 'TASK_STATE_WORKING'] as const));
      expect(idsOf(await list(tested, { statusAfter: start + 3 }))).toEqual(['4', '3']);
      expect(idsOf(await list(tested, { createdAfter: start + 2 }))).toEqual(['4', '3']);
      expect(idsOf(await list(tested, { createdBefore: start + 2, orderBy: 'created' }))).toEqual(['1']);
      expect(await list(tested, { createdAfter: start + 1, createdBefore: start + 4, limit: 1 })).toMatchObject({
        tasks: [{ task: { id: '3' } }],
        total: 2,
      });
    });

    it('puts tasks without a status time last (protocol choice 51)', async () => {
      await tested.storage.create(ALICE, { id: 'timeless', status: { state: 'TASK_STATE_WORKING' } });
      await createAll([['1', 'TASK_STATE_WORKING']]);
      expect(idsOf(await list(tested))).toEqual(['1', 'timeless']);
      expect(idsOf(await list(tested, { cursor: { time: 0, id: 'timeless' } }))).toEqual([]);
    });

    it('goes on after its cursor when the cursor task has changed or vanished (Spec §3.1.4)', async () => {
      const { storage, clock } = tested;
      await createAll(['1', '2', '3', '4', '5'].map((id) => [id, 'TASK_STATE_WORKING'] as const));
      const [, second] = (await list(tested, { limit: 2 })).tasks;
      if (second === undefined) throw new Error('There is no second task');
      const cursor = { time: statusTime(second.task.status), id: second.task.id };
      const rest = () => list(tested, { cursor, limit: 2 });
      expect(idsOf(await rest())).toEqual(['3', '2']);
      clock.pass(1);
      const play = new TaskPlay(tested, second);
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { authority: 'idle' });
      expect(idsOf(await rest())).toEqual(['3', '2']);
      await storage.delete(ALICE, second.task.id);
      expect(await rest()).toMatchObject({ total: 4 });
      expect(idsOf(await rest())).toEqual(['3', '2']);
    });

    it('shows of a task only what was asked for (Spec §3.1.4)', async () => {
      const task = newTask(tested, 't', {
        artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
        history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'y' }] }],
        metadata: { a: 1 },
      });
      await tested.storage.create(ALICE, task);
      const firstTask = async (asked: Asked) => (await list(tested, asked)).tasks[0]?.task;
      const { artifacts, history, ...bare } = task;
      expect(await firstTask({})).toEqual(bare);
      expect(await firstTask({ artifacts: true })).toEqual({ ...bare, artifacts });
      expect(await firstTask({ history: true })).toEqual({ ...bare, history });
      expect(await firstTask({ artifacts: true, history: true })).toEqual(task);
      for (const name of ['artifacts', 'history']) expect(await firstTask({})).not.toHaveProperty(name);
    });

    it('ends a page early where its tasks are large, and loses or repeats none', async () => {
      const text = 'x'.repeat(10_000);
      for (let at = 0; at < 12; at += 1) {
        tested.clock.pass(at % 3);
        const artifacts = [{ artifactId: 'a', parts: [{ text: text.repeat(at % 4) }] }];
        const state = at % 2 === 0 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED';
        const status = { state, timestamp: new Date(tested.clock.now()).toISOString() } as const;
        await tested.storage.create(ALICE, newTask(tested, `t${at}`, { status, ...(at % 4 > 0 && { artifacts }) }));
      }
      for (const orderBy of ['status', 'created'] as const) {
        const all = idsOf(await list(tested, { orderBy }));
        for (const maxBytes of [1, 25_000, 60_000, 10_000_000]) {
          const seen: string[] = [];
          const pages: number[] = [];
          for (let cursor: TaskQuery['cursor'] | null; cursor !== null; ) {
            const page = await list(tested, {
              orderBy,
              limit: 5,
              artifacts: true,
              maxBytes,
              ...(cursor && { cursor }),
            });
            expect(page.total).toBe(12);
            seen.push(...idsOf(page));
            pages.push(page.tasks.length);
            cursor = page.next ?? null;
          }
          expect(seen).toEqual(all);
          if (maxBytes === 1) expect(pages).toEqual(all.map(() => 1));
          else expect(Math.max(...pages)).toBeLessThanOrEqual(maxBytes > 1_000_000 ? 5 : 4);
          expect(pages.every((size) => size > 0)).toBe(true);
        }
        // Omitted members do not count.
        expect((await list(tested, { orderBy, limit: 5, maxBytes: 10_000 })).tasks).toHaveLength(5);
      }
    });

    it('says where it goes on, and that it ends', async () => {
      await createAll(['1', '2', '3', '4'].map((id) => [id, 'TASK_STATE_WORKING'] as const));
      const first = await list(tested, { limit: 2 });
      expect(first.next).toMatchObject({ id: '3' });
      expect(
        (await list(tested, { limit: 2, cursor: first.next as TaskQuery['cursor'] & object })).next,
      ).toBeUndefined();
      expect((await list(tested, { limit: 4 })).next).toBeUndefined();
      expect((await list(tested, { limit: 1, offset: 3 })).next).toBeUndefined();
      expect((await list(tested, { limit: 1, offset: 2, orderBy: 'created' })).next).toMatchObject({ id: '2' });
    });

    it('can have its total without tasks', async () => {
      await createAll([['1', 'TASK_STATE_WORKING']]);
      expect(await list(tested, { limit: 0 })).toEqual({ tasks: [], total: 1 });
      expect(await list(tested, { limit: 5, offset: 1 })).toEqual({ tasks: [], total: 1 });
    });
  });

  it('any list of 1,200 tasks is what its filters say, page by page', async () => {
    const clock = new StorageClock();
    const tested = { clock, storage: await open(clock) };
    const contexts = ['x', 'y', 'z', undefined];
    const start = clock.now();
    // A small random generator with a seed, so that the tasks are the same in every run.
    let seed = 7;
    const below = (bound: number) => {
      seed = (seed * 48_271) % 0x7fffffff;
      return seed % bound;
    };
    const all: { task: Task; createdAt: number }[] = [];
    const pending: Promise<unknown>[] = [];
    for (let index = 0; index < 1_200; index += 1) {
      clock.pass(below(3));
      const state = TASK_STATES[1 + below(8)] ?? 'TASK_STATE_WORKING';
      const { contextId: _, ...task } = newTask(tested, `t${below(1_000_000)}-${index}`, {
        status: { state, timestamp: new Date(start + below(400)).toISOString() },
      });
      const contextId = contexts[below(index % 2 === 0 ? 4 : 1)];
      const whole = { ...task, ...(contextId !== undefined && { contextId }) };
      all.push({ task: whole, createdAt: clock.now() });
      pending.push(tested.storage.create(ALICE, whole));
    }
    await Promise.all(pending);
    for (const entry of all.filter(({ task }) => !isTerminal(task.status.state)).slice(0, 200)) {
      const status = { state: 'TASK_STATE_WORKING' as const, timestamp: new Date(start + below(400)).toISOString() };
      const play = new TaskPlay(tested, { scope: ALICE, task: entry.task, seq: 1 });
      const event = { statusUpdate: { taskId: entry.task.id, contextId: play.contextId, status } };
      await play.write([event], { authority: 'idle' });
      entry.task = play.task;
    }
    for (const entry of all.splice(50, 40)) await tested.storage.delete(ALICE, entry.task.id);

    const time = fc.integer({ min: start - 5, max: start + 1_300 });
    const statusAt = fc.integer({ min: start - 5, max: start + 405 });
    const anyQuery: fc.Arbitrary<Asked> = fc.record(
      {
        orderBy: fc.constantFrom('status' as const, 'created' as const),
        contextId: fc.constantFrom('x', 'y', 'z'),
        states: fc.array(fc.constantFrom(...TASK_STATES), { minLength: 1, maxLength: 4 }),
        statusAfter: statusAt,
        createdAfter: time,
        createdBefore: time,
        offset: fc.nat({ max: 60 }),
        limit: fc.integer({ min: 1, max: 100 }),
      },
      { requiredKeys: ['orderBy', 'limit'] },
    );
    await fc.assert(
      fc.asyncProperty(anyQuery, fc.nat({ max: 1_199 }), fc.boolean(), async (asked, at, continued) => {
        const from = all[at % all.length];
        const cursor = from && {
          time: asked.orderBy === 'status' ? statusTime(from.task.status) : from.createdAt,
          id: from.task.id,
        };
        const query = continued && cursor ? { ...asked, cursor } : asked;
        const page = await list(tested, query);
        expect({ ids: idsOf(page), total: page.total }).toEqual(expectedPage(all, query));
      }),
      { numRuns: process.env.TEST_LONG === undefined ? 100 : 300 },
    );
    const seen: string[] = [];
    for (let cursor: TaskQuery['cursor']; ; ) {
      const page = await list(tested, { limit: 50, ...(cursor && { cursor }) });
      seen.push(...idsOf(page));
      const last = page.tasks.at(-1);
      if (last === undefined) break;
      cursor = { time: statusTime(last.task.status), id: last.task.id };
    }
    expect(seen).toEqual(expectedPage(all, {}).ids);
    await tested.storage.close();
  });
}
