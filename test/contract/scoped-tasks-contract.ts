import { describe, expect, it } from 'vitest';
import { ScopedTasks } from '../../packages/parley/src/store/scoped-tasks.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { CountingIds } from '../../packages/parley/test/counting-ids.js';
import { ALICE, acceptance, LEASE, only, TaskPlay, userMessage } from './storage/task-play.js';
import { type OpenStorage, useStorage } from './storage/tested-storage.js';

/** The contract of `ScopedTasks` for applications, over any storage. */
export function scopedTasksContract(name: string, open: OpenStorage): void {
  describe(`the tasks of a scope in ${name} storage`, () => {
    const tested = useStorage(open);
    const storeOn = (storage: TaskStorage, scope = ALICE) =>
      new ScopedTasks({ storage, scope, clock: tested.clock, ids: new CountingIds(`${scope.owner} `) });
    const store = () => storeOn(tested.storage);
    const errorWith = (reason: string) => ({ name: 'TaskStoreError', reason });

    it('creates tasks with what is missing filled in, and gives them back', async () => {
      const now = new Date(tested.clock.now()).toISOString();
      const created = await store().create({ metadata: { a: 1 } });
      expect(created).toEqual({
        id: expect.any(String),
        contextId: expect.any(String),
        status: { state: 'TASK_STATE_SUBMITTED', timestamp: now },
        metadata: { a: 1 },
      });
      expect(await store().get(created.id)).toEqual(created);
      const own = {
        id: 'own',
        contextId: 'c',
        status: { state: 'TASK_STATE_COMPLETED' as const, timestamp: '2020-01-01T00:00:00Z' },
        artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
        history: [userMessage('1'), userMessage('2')],
      };
      expect(await store().create(own)).toEqual(own);
      expect(await store().get('own', { historyLength: 1, includeArtifacts: false })).toEqual({
        id: 'own',
        contextId: 'c',
        status: own.status,
        history: [userMessage('2')],
      });
      await expect(store().create({ id: 'own' })).rejects.toMatchObject(errorWith('taken'));
      expect(await store().get('unknown')).toBeUndefined();
    });

    it('changes a task by one record that shows it whole', async () => {
      const { storage, clock } = tested;
      await store().create({ id: 't', contextId: 'c', metadata: { a: 1 }, history: [userMessage('1')] });
      clock.pass(7);
      const updated = await store().update('t', { status: { state: 'TASK_STATE_WORKING' }, history: undefined });
      expect(updated).toEqual({
        id: 't',
        contextId: 'c',
        status: { state: 'TASK_STATE_WORKING', timestamp: new Date(clock.now()).toISOString() },
        metadata: { a: 1 },
      });
      expect(await store().get('t')).toEqual(updated);
      const { records } = await storage.records({ scope: ALICE, id: 't' }, 1, 10_000);
      expect(only(records)).toMatchObject({ seq: 2, event: { task: updated } });
    });

    it('gives a new status no time before the last one', async () => {
      await store().create({ id: 't' });
      tested.clock.pass(-1_000);
      const { status: first } = (await store().get('t')) ?? {};
      const { status } = await store().update('t', {
        status: { state: 'TASK_STATE_WORKING', timestamp: '2020-01-01T00:00:00Z' },
      });
      expect(status.timestamp).toBe(first?.timestamp);
    });

    it('loses no change when several are made at once', async () => {
      await store().create({ id: 't', metadata: { count: 0 } });
      const add = () => store().update('t', ({ metadata }) => ({ metadata: { count: Number(metadata?.count) + 1 } }));
      await Promise.all([add(), add(), add()]);
      expect((await store().get('t'))?.metadata).toEqual({ count: 3 });
      expect((await tested.storage.task(ALICE, 't'))?.seq).toBe(4);
    });

    it('refuses to change or delete a task while a turn runs', async () => {
      const play = await TaskPlay.begin(tested, 't');
      await expect(store().update('t', { metadata: { a: 1 } })).rejects.toMatchObject(errorWith('running'));
      await expect(store().delete('t')).rejects.toMatchObject(errorWith('running'));
      expect(await tested.storage.task(ALICE, 't')).toMatchObject({ seq: 1, task: play.task });
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      expect((await store().update('t', { metadata: { a: 1 } })).metadata).toEqual({ a: 1 });
      expect(await store().delete('t')).toBe(true);
      expect(await store().delete('t')).toBe(false);
    });

    it('lets the agent go on from what was changed', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't');
      await play.write([play.chunk('a', false), 'TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const updated = await store().update('t', { artifacts: [{ artifactId: 'b', parts: [{ text: 'mine' }] }] });
      const outcome = await storage.accept(acceptance(userMessage('m2'), 't', { claim: LEASE }));
      expect(outcome).toMatchObject({ kind: 'accepted', claim: { task: updated, seq: 4, turn: 2 } });
    });

    it('refuses to change a task that has ended or is not there', async () => {
      await store().create({ id: 't' });
      const ended = await store().update('t', { status: { state: 'TASK_STATE_FAILED' } });
      expect(ended.status.state).toBe('TASK_STATE_FAILED');
      await expect(store().update('t', { metadata: {} })).rejects.toMatchObject(errorWith('ended'));
      await expect(store().update('unknown', { metadata: {} })).rejects.toMatchObject({ name: 'TaskNotFoundError' });
      expect(await store().delete('t')).toBe(true);
    });

    it('sees the tasks of its scope only', async () => {
      await store().create({ id: 't' });
      const anonymous = storeOn(tested.storage, { ...ALICE, owner: null });
      expect(await anonymous.get('t')).toBeUndefined();
      expect(await anonymous.list()).toEqual({ tasks: [], total: 0, hasMore: false });
      expect(await anonymous.delete('t')).toBe(false);
      await expect(anonymous.update('t', {})).rejects.toMatchObject({ name: 'TaskNotFoundError' });
    });

    it('lists by context, states and creation, with limit, offset, total and whether there is more', async () => {
      const { clock } = tested;
      const states = ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_INPUT_REQUIRED'] as const;
      const start = clock.now();
      for (let at = 0; at < 12; at += 1) {
        clock.pass(1_000);
        const state = states[at % 3] ?? 'TASK_STATE_WORKING';
        await store().create({
          id: `t${String(at).padStart(2, '0')}`,
          contextId: at < 6 ? 'early' : 'late',
          status: { state },
          artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
        });
      }
      const listIds = async (filter: Parameters<ScopedTasks['list']>[0]) => {
        const { tasks, total, hasMore } = await store().list(filter);
        return { ids: tasks.map(({ id }) => id), total, hasMore };
      };
      expect(await listIds({ limit: 2 })).toEqual({ ids: ['t11', 't10'], total: 12, hasMore: true });
      expect(await listIds({ limit: 2, offset: 10 })).toEqual({ ids: ['t01', 't00'], total: 12, hasMore: false });
      expect(await listIds({ limit: 2, offset: 40 })).toEqual({ ids: [], total: 12, hasMore: false });
      expect(await listIds({ contextId: 'early', limit: 5 })).toEqual({
        ids: ['t05', 't04', 't03', 't02', 't01'],
        total: 6,
        hasMore: true,
      });
      expect(await listIds({ states: ['TASK_STATE_COMPLETED', 'TASK_STATE_WORKING'], contextId: 'late' })).toEqual({
        ids: ['t10', 't09', 't07', 't06'],
        total: 4,
        hasMore: false,
      });
      expect(await listIds({ createdAfter: new Date(start + 2_000), createdBefore: new Date(start + 5_000) })).toEqual({
        ids: ['t03', 't02'],
        total: 2,
        hasMore: false,
      });
      const [newest] = (await store().list({ limit: 1 })).tasks;
      expect(newest?.artifacts).toHaveLength(1);
      expect((await store().list({ limit: 1, artifacts: false })).tasks[0]).not.toHaveProperty('artifacts');
    });

    it('can list by status time instead', async () => {
      for (const id of ['1', '2', '3']) {
        tested.clock.pass(1);
        await store().create({ id });
      }
      tested.clock.pass(1);
      await store().update('2', { status: { state: 'TASK_STATE_WORKING' } });
      expect((await store().list({ orderBy: 'status' })).tasks.map(({ id }) => id)).toEqual(['2', '3', '1']);
    });
  });
}
