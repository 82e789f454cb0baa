import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { EventQueue } from '../../packages/parley/src/server/event-queue.js';
import { IsolatedRequestHandler } from '../../packages/parley/src/server/isolated-request-handler.js';
import type { RequestContext } from '../../packages/parley/src/server/request-context.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { ScopedTasks } from '../../packages/parley/src/store/scoped-tasks.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { CountingIds } from '../../packages/parley/test/counting-ids.js';
import { CapturingLogger, call, message, Seen, Sent } from '../../packages/parley/test/engine.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const BACKENDS: Readonly<Record<string, () => Promise<TaskStorage>>> = {
  memory: async () => new MemoryStorage({ clock: systemClock }),
  SQLite: () => files.open(systemClock),
};

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

describe.each(Object.entries(BACKENDS))('what a task store writes, over %s storage,', (_name, open) => {
  /** An agent whose tasks wait: for input, or for authorization. */
  async function world() {
    const storage = await open();
    const handler = new IsolatedRequestHandler({
      agent: 'test',
      executor: {
        execute: (context: RequestContext, events: EventQueue) =>
          context.text === 'log in' ? events.authRequired('where?') : events.inputRequired('what?'),
      },
      storage,
      clock: systemClock,
      ids: new CountingIds(),
      logger: new CapturingLogger(),
    });
    const scope = { agent: 'test', tenant: '', owner: null };
    const store = new ScopedTasks({ storage, scope, clock: systemClock, ids: new CountingIds('store') });
    const ask = async (text = 'hi') => {
      const sent = await handler.sendMessage({ message: message({ parts: [{ text }] }) }, call());
      const id = sent.task !== undefined ? sent.task.id : '';
      await until(async () => (await storage.task(scope, id))?.running === false);
      return id;
    };
    const close = async () => {
      await handler.close();
      await storage.close();
    };
    return { storage, handler, store, ask, close, scope };
  }

  it('reaches those who watch the task: an update, then its end', async () => {
    const { handler, store, ask, close } = await world();
    const id = await ask();
    const seen = [0, 1].map(() => new Seen(handler.subscribeToTask({ id }, call())));
    await until(() => seen.every(({ items }) => items.length === 1));
    await store.update(id, { metadata: { a: 1 } });
    await store.update(id, { status: { state: 'TASK_STATE_COMPLETED' } });
    await until(() => seen.every(({ ended }) => ended));
    for (const { shown, seqs, error } of seen) {
      expect(error).toBeUndefined();
      expect(shown).toEqual(['task INPUT_REQUIRED', 'task INPUT_REQUIRED', 'task COMPLETED']);
      expect(seqs).toEqual([3, 4, 5]);
    }
    expect(handler.load.watchedTasks).toBe(0);
    await close();
  });

  it('ends the stream of a message that waits for authorization', async () => {
    const { storage, handler, store, close, scope } = await world();
    const stream = new Seen(
      handler.sendStreamingMessage({ message: message({ parts: [{ text: 'log in' }] }) }, call()),
    );
    await until(() => stream.shown.includes('AUTH_REQUIRED'));
    const [item] = stream.items;
    const id = item && item.event.task !== undefined ? item.event.task.id : '';
    await until(async () => (await storage.task(scope, id))?.running === false);
    expect(stream.ended).toBe(false);
    await store.update(id, { status: { state: 'TASK_STATE_COMPLETED' } });
    await until(() => stream.ended);
    expect(stream.error).toBeUndefined();
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'AUTH_REQUIRED', 'task COMPLETED']);
    await close();
  });

  it.each(['ends', 'deletes'] as const)('reaches a blocking sender who waits when it %s the task', async (how) => {
    const { storage, handler, store, ask, close } = await world();
    const id = await ask();
    // The next turn has no process yet.
    const accept = storage.accept.bind(storage);
    let accepted = false;
    storage.accept = async ({ claim: _none, ...acceptance }) => {
      const outcome = await accept(acceptance);
      accepted = true;
      return outcome;
    };
    const sent = new Sent(handler.sendMessage({ message: message({ messageId: 'm2', taskId: id }) }, call()));
    await until(() => accepted);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.settled).toBe(false);
    if (how === 'ends') await store.update(id, { status: { state: 'TASK_STATE_CANCELED' } });
    else await store.delete(id);
    await until(() => sent.settled);
    expect(sent.error).toMatchObject({ code: how === 'ends' ? 'UNSUPPORTED_OPERATION' : 'TASK_NOT_FOUND' });
    expect(handler.load.watchedTasks).toBe(0);
    await close();
  });

  it('ends all streams of a task that it deletes, and nothing of another agent', async () => {
    const { storage, handler, store, ask, close } = await world();
    const id = await ask();
    const stream = new Seen(handler.subscribeToTask({ id }, call()));
    await until(() => stream.items.length === 1);
    const other = { agent: 'other', tenant: '', owner: null };
    await storage.create(other, { id, status: { state: 'TASK_STATE_SUBMITTED' } });
    await storage.delete(other, id);
    expect(stream.ended).toBe(false);
    await store.delete(id);
    await until(() => stream.ended);
    expect(stream.error).toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(handler.load.watchedTasks).toBe(0);
    await close();
  });
});
