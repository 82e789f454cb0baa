import { describe, expect, it } from 'vitest';
import type { Task } from '../../packages/parley/src/model/task.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { storeBackedStorage } from '../../packages/parley/src/store/store-backed-storage.js';
import type { Scope } from '../../packages/parley/src/store/task-key.js';
import type { TaskStore } from '../../packages/parley/src/store/task-store.js';
import { CountingIds } from '../../packages/parley/test/counting-ids.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { scopedTasksContract } from './scoped-tasks-contract.js';
import { acceptingContract } from './storage/accepting.js';
import { appendingContract } from './storage/appending.js';
import { cancelingContract } from './storage/canceling.js';
import { checkingContract } from './storage/checking.js';
import { claimingContract } from './storage/claiming.js';
import { commitsContract } from './storage/commits.js';
import { logsContract } from './storage/logs.js';
import { processesContract } from './storage/processes.js';
import { pushConfigurationsContract } from './storage/push-configurations.js';
import { scopesContract } from './storage/scopes.js';
import { ALICE, userMessage } from './storage/task-play.js';
import { type OpenStorage, StorageClock } from './storage/tested-storage.js';

/** A task store of an application, which stores objects without copying them. */
class MapTaskStore implements TaskStore {
  readonly tasks = new Map<string, Task>();
  failing = false;
  readonly #unlessFailing = async <T>(work: () => T): Promise<T> => {
    if (this.failing) throw new Error('the database is away');
    return work();
  };
  create = (task: Task) => this.#unlessFailing(() => void this.tasks.set(task.id, task));
  get = (id: string) => this.#unlessFailing(() => this.tasks.get(id));
  update = (task: Task) => this.#unlessFailing(() => void this.tasks.set(task.id, task));
  delete = (id: string) => this.#unlessFailing(() => this.tasks.delete(id));
  list: TaskStore['list'] = ({ limit = 100, offset = 0 } = {}) =>
    this.#unlessFailing(() => [...this.tasks.values()].slice(offset, offset + limit));
}

function over(store: TaskStore, clock = new StorageClock(), logger = new CapturingLogger()) {
  const working = new MemoryStorage({ clock });
  return storeBackedStorage({ store, working, agent: '/', clock, ids: new CountingIds(), logger });
}

const open: OpenStorage = async (clock, options) => {
  const working = new MemoryStorage({ clock, ...options });
  const logger = new CapturingLogger();
  return storeBackedStorage({ store: new MapTaskStore(), working, agent: 'a', clock, ids: new CountingIds(), logger });
};

describe('task store storage', () => {
  // Without retention, which is up to the store. Without equal ids, which a task store does not tell apart. Without
  // lists, whose calls pass the time concurrently.
  for (const contract of [
    scopesContract,
    acceptingContract,
    appendingContract,
    claimingContract,
    cancelingContract,
    logsContract,
    pushConfigurationsContract,
    commitsContract,
    checkingContract,
    processesContract,
  ]) {
    contract(open);
  }
});
scopedTasksContract('task store', open);

const ANYBODY: Scope = { agent: '/', tenant: '', owner: null };
const task = (id: string, state: Task['status']['state'], metadata?: Task['metadata']): Task => ({
  id,
  contextId: 'c',
  status: { state, timestamp: '2026-01-01T00:00:00.000Z' },
  history: [userMessage('1')],
  ...(metadata && { metadata }),
});

describe('a task store of an application', () => {
  it('has one task of an id, whatever its scope', async () => {
    const store = new MapTaskStore();
    const storage = over(store);
    expect(await storage.create(ANYBODY, task('t', 'TASK_STATE_WORKING'))).toBe(true);
    expect(await storage.create({ ...ANYBODY, owner: 'bob' }, task('t', 'TASK_STATE_COMPLETED'))).toBe(false);
    expect([...store.tasks.values()]).toEqual([task('t', 'TASK_STATE_WORKING')]);
  });

  it('gets the first calls about a task in their order, and a close after them', async () => {
    const store = new MapTaskStore();
    const storage = over(store);
    const answers = [
      storage.create(ANYBODY, task('t', 'TASK_STATE_COMPLETED')),
      storage.task(ANYBODY, 't'),
      storage.delete(ANYBODY, 't'),
      storage.close(),
    ];
    const [created, found, deleted] = await Promise.all(answers);
    expect([created, found, deleted]).toMatchObject([true, { task: { id: 't' } }, 'deleted']);
    expect(store.tasks.size).toBe(0);
  });

  it('gets each task as it is stored, and has it after a restart', async () => {
    const store = new MapTaskStore();
    const first = over(store);
    await first.create(ANYBODY, task('done', 'TASK_STATE_COMPLETED', { a: 1 }));
    expect([...store.tasks.values()]).toEqual([task('done', 'TASK_STATE_COMPLETED', { a: 1 })]);
    const second = over(store);
    expect((await second.task(ANYBODY, 'done'))?.task).toEqual(task('done', 'TASK_STATE_COMPLETED', { a: 1 }));
    expect(
      (await second.tasks({ scope: ANYBODY, orderBy: 'created', limit: 9, artifacts: true, history: true })).total,
    ).toBe(1);
    await second.delete(ANYBODY, 'done');
    expect(store.tasks.size).toBe(0);
  });

  it.each(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED'] as const)(
    'has after a restart a FAILED task that says why, where it was %s',
    async (state) => {
      const store = new MapTaskStore();
      await store.create(task('open', `TASK_STATE_${state}`));
      const stored = await over(store).task(ANYBODY, 'open');
      expect(stored?.task.status).toMatchObject({
        state: 'TASK_STATE_FAILED',
        message: { parts: [{ text: 'The server was restarted before the task had ended' }] },
      });
      expect(store.tasks.get('open')).toEqual(stored?.task);
    },
  );

  it('is read page by page, also where it does not know offsets', async () => {
    const store = new MapTaskStore();
    for (let count = 0; count < 250; count++) await store.create(task(`t${count}`, 'TASK_STATE_COMPLETED'));
    const query = { scope: ANYBODY, orderBy: 'created', limit: 1, artifacts: false, history: false } as const;
    expect((await over(store).tasks(query)).total).toBe(250);
    store.list = async () => [...store.tasks.values()].slice(0, 100);
    expect((await over(store).tasks(query)).total).toBe(100);
  });

  it('keeps whose a task is, and shows it to nobody else', async () => {
    const store = new MapTaskStore();
    const scope = { ...ALICE, agent: '/' };
    await over(store).create(scope, task('hers', 'TASK_STATE_COMPLETED'));
    const restarted = over(store);
    expect((await restarted.task(scope, 'hers'))?.task).toEqual(task('hers', 'TASK_STATE_COMPLETED'));
    for (const other of [
      ANYBODY,
      { ...scope, tenant: 'other' },
      { ...scope, owner: 'bob' },
      { ...scope, agent: '/b' },
    ]) {
      expect(await restarted.task(other, 'hers')).toBeUndefined();
      expect(await restarted.delete(other, 'hers')).toBe('not-found');
    }
    expect(store.tasks.size).toBe(1);
  });

  it('gets copies, and what it changes in them changes no task', async () => {
    const store = new MapTaskStore();
    const storage = over(store);
    const given = task('t', 'TASK_STATE_COMPLETED', { deep: { list: [1] } });
    await storage.create(ANYBODY, given);
    Object.assign(store.tasks.get('t')?.metadata?.deep as object, { list: 'changed' });
    expect((await storage.task(ANYBODY, 't'))?.task.metadata).toEqual({ deep: { list: [1] } });
  });

  it('may have rows that are no tasks, which are logged and left alone', async () => {
    const store = new MapTaskStore();
    const logger = new CapturingLogger();
    await store.create({ id: 'bad' } as Task);
    await store.create(task('good', 'TASK_STATE_COMPLETED'));
    const storage = over(store, new StorageClock(), logger);
    expect(await storage.task(ANYBODY, 'good')).toBeDefined();
    expect(await storage.task(ANYBODY, 'bad')).toBeUndefined();
    expect(logger.lines[0]).toMatchObject({ level: 'error', fields: { taskId: 'bad' } });
    expect(store.tasks.get('bad')).toEqual({ id: 'bad' });
  });

  it('that fails makes the call fail, and nothing is left of a task that it did not take', async () => {
    const store = new MapTaskStore();
    const storage = over(store);
    await storage.task(ANYBODY, 'none');
    store.failing = true;
    const accepted = storage.accept({
      scope: ANYBODY,
      message: userMessage('1'),
      caller: { extensions: [], version: '1.0' },
      task: { create: task('t', 'TASK_STATE_SUBMITTED') },
      claim: { node: 'n', leaseMs: 1000 },
      waitingLimit: 16,
    });
    await expect(accepted).rejects.toMatchObject({ name: 'StorageError', message: 'The task store failed' });
    store.failing = false;
    expect(await storage.task(ANYBODY, 't')).toBeUndefined();
    expect(store.tasks.size).toBe(0);
  });
});
