import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../test/counting-ids.js';
import { call, engine, ids, Sent, send, textOf } from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { onSharedStorage } from '../../test/shared-view.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { ScopedTasks } from '../store/scoped-tasks.js';
import type { TaskStorage } from '../store/task-storage.js';
import { DefaultRequestHandler } from './default-request-handler.js';

const SCOPE = { agent: 'test', tenant: '', owner: null };
const views = [
  ['of this process alone', (storage: MemoryStorage): TaskStorage => storage],
  ['that others share', (storage: MemoryStorage): TaskStorage => onSharedStorage(storage)],
] as const;

describe.each(views)('a turn that outlasts its lease, on a storage %s', (_name, view) => {
  async function longTurn() {
    const aborts: unknown[] = [];
    let stopped: () => void = () => {};
    const clock = new ManualClock();
    const storage = view(new MemoryStorage({ clock }));
    const { handler } = engine(
      async (context, events) => {
        if (context.text === 'second') return events.complete('second');
        await events.working();
        context.signal.addEventListener('abort', () => aborts.push(context.signal.reason));
        await new Promise<void>((resolve) => {
          stopped = resolve;
        });
        await events.inputRequired('and?');
      },
      { storage, clock },
    );
    await handler.start();
    send(handler);
    await clock.settle();
    const [taskId = ''] = await ids(handler);
    const store = new ScopedTasks({ storage, scope: SCOPE, clock, ids: new CountingIds('store') });
    return { aborts, clock, storage, handler, taskId, store, stop: () => stopped() };
  }

  it.each([16_000, 70_000, 3_000_000])(
    'is canceled like any other after %d ms: its agent is told at once',
    async (ms) => {
      const { aborts, clock, handler, taskId } = await longTurn();
      await clock.advance(ms);
      const canceled = new Sent(handler.cancelTask({ id: taskId }, call()));
      const again = new Sent(handler.cancelTask({ id: taskId }, call()));
      await clock.settle();
      expect(aborts).toHaveLength(1);
      expect(canceled.settled).toBe(false);
      await clock.advance(5_000);
      expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
      expect(again.task?.status.state).toBe('TASK_STATE_CANCELED');
      expect(aborts).toHaveLength(1);
      await clock.advance(5_000);
      await handler.close();
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('lets nobody change or delete its task, and makes messages wait', async () => {
    const { clock, handler, taskId, store, stop } = await longTurn();
    await clock.advance(70_000);
    await expect(store.update(taskId, { metadata: { k: 1 } })).rejects.toMatchObject({ reason: 'running' });
    await expect(store.delete(taskId)).rejects.toMatchObject({ reason: 'running' });
    const second = send(handler, { messageId: 'm2', taskId, parts: [{ text: 'second' }] });
    await clock.advance(70_000);
    expect(second.settled).toBe(false);
    stop();
    await clock.settle();
    expect(textOf(second.task?.status.message?.parts)).toBe('second');
  });

  it('is told to stop by a cancel that comes when the event loop was held for longer than the lease', async () => {
    const { aborts, clock, handler, taskId } = await longTurn();
    const wake = clock.now() + 40_000;
    Object.defineProperty(clock, 'now', { value: () => wake });
    const canceled = new Sent(handler.cancelTask({ id: taskId }, call()));
    await clock.settle();
    expect(aborts).toHaveLength(1);
    expect(canceled.settled).toBe(false);
  });
});

describe('a storage of this process alone', () => {
  it('loses no turn while the event loop is held for longer than the lease', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const { handler } = engine(() => new Promise(() => {}), { storage, clock });
    await handler.start();
    send(handler);
    await clock.settle();
    const [taskId = ''] = await ids(handler);
    const wake = clock.now() + 86_400_000;
    Object.defineProperty(clock, 'now', { value: () => wake });
    const store = new ScopedTasks({ storage, scope: SCOPE, clock, ids: new CountingIds('store') });
    await expect(store.delete(taskId)).rejects.toMatchObject({ reason: 'running' });
    await expect(store.update(taskId, {})).rejects.toMatchObject({ reason: 'running' });
    const beside = new DefaultRequestHandler({
      ...engine(() => {}),
      agent: 'test',
      executor: { execute: () => {} },
      storage,
      clock,
      ids: new CountingIds('beside'),
    });
    await beside.start();
    expect(beside.load.runningTurns).toBe(0);
    expect(handler.load.runningTurns).toBe(1);
  });

  it('needs no heartbeat', async () => {
    const { handler, clock } = engine(() => new Promise(() => {}));
    const before = clock.pendingTimers;
    await handler.start();
    // The check for tasks that wait too long is all there is.
    expect(clock.pendingTimers).toBe(before + 1);
    await handler.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
