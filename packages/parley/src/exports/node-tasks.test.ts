import { afterEach, describe, expect, it } from 'vitest';
import { connect, createA2AHost, createA2AServer, type StreamResponse, silentLogger, type Task } from './index.js';
import type { A2AServerOptions } from './node.js';
import type { TaskStore } from './storage.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function startServer(options: A2AServerOptions) {
  const server = createA2AServer({ logger: silentLogger, ...options });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  return { server, client: await connect(url) };
}

const newMessage = (text: string) =>
  ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }) as const;
const waiting: A2AServerOptions = { agent: { execute: async (_, events) => events.inputRequired('More?') } };
const stateOf = (event: StreamResponse | undefined) =>
  event && event.task !== undefined
    ? event.task.status.state
    : event && event.statusUpdate !== undefined
      ? event.statusUpdate.status.state
      : '';

describe('the tasks of a server, for its own application', () => {
  it('are counted, listed, changed and cleared', async () => {
    const { server, client } = await startServer(waiting);
    for (const text of ['one', 'two', 'three']) await client.sendMessage({ message: newMessage(text) });
    const { tasks } = server;
    expect(await tasks.count()).toBe(3);
    const { tasks: listed } = await tasks.list({ states: ['TASK_STATE_INPUT_REQUIRED'], limit: 2 });
    expect(listed).toHaveLength(2);
    const [first] = listed as [Task, Task];
    await tasks.update(first, { metadata: { seen: true } });
    await tasks.update({ ...first, status: { state: 'TASK_STATE_CANCELED' } });
    expect(await tasks.count({ states: ['TASK_STATE_CANCELED'] })).toBe(1);
    expect(await client.getTask({ id: first.id })).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    await expect(tasks.update('nobody', {})).rejects.toMatchObject({ name: 'TaskNotFoundError' });
    expect(await tasks.clear({ states: ['TASK_STATE_CANCELED'] })).toBe(1);
    expect(await tasks.clear()).toBe(2);
    expect(await tasks.count()).toBe(0);
  });

  it('are those of the owner who is asked for', async () => {
    const { server, client } = await startServer(waiting);
    await client.sendMessage({ message: newMessage('one') });
    await server.tasksOf({ owner: 'bearer|ada' }).create();
    expect([await server.tasks.count(), await server.tasksOf({ owner: 'bearer|ada' }).count()]).toEqual([1, 1]);
    const host = createA2AHost({ agents: { '/a': { agent: (prompt) => prompt } }, logger: silentLogger });
    expect(await host.tasksOf('/a').count()).toBe(0);
    expect(() => host.tasksOf('/b')).toThrow('no agent is served at "/b"');
  });

  it('can be watched until they end, from wherever they stand', async () => {
    const { server, client } = await startServer({
      agent: {
        execute: async ({ text }, events) => (text === 'go' ? events.complete() : events.inputRequired('More?')),
      },
    });
    const answer = await client.sendMessage({ message: newMessage('start') });
    if (answer.task === undefined) throw new Error('no task');
    const { id } = answer.task;
    const seen: StreamResponse[] = [];
    const iterated = (async () => {
      for await (const event of server.tasks.watch(id)) seen.push(event);
    })();
    const told: StreamResponse[] = [];
    const ended = Promise.withResolvers<void>();
    const quiet: StreamResponse[] = [];
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stop = server.tasks.watch(id, (event) => {
      quiet.push(event);
      begun[0]?.resolve();
    });
    server.tasks.watch(id, (event) => {
      told.push(event);
      begun[1]?.resolve();
      if (stateOf(event) === 'TASK_STATE_COMPLETED') ended.resolve();
    });
    await Promise.all(begun.map(({ promise }) => promise));
    stop();
    await client.sendMessage({ message: { ...newMessage('go'), taskId: id } });
    await Promise.all([iterated, ended.promise]);
    for (const events of [seen, told]) {
      expect([stateOf(events[0]), stateOf(events.at(-1))]).toEqual([
        'TASK_STATE_INPUT_REQUIRED',
        'TASK_STATE_COMPLETED',
      ]);
    }
    expect(quiet.map(stateOf)).toEqual(['TASK_STATE_INPUT_REQUIRED']);
    const after: StreamResponse[] = [];
    for await (const event of server.tasks.watch(id)) after.push(event);
    expect(after.map(stateOf)).toEqual(['TASK_STATE_COMPLETED']);
    const nobody = server.tasks.watch('nobody')[Symbol.asyncIterator]();
    await expect(nobody.next()).rejects.toMatchObject({ name: 'TaskNotFoundError' });
  });
});

describe('a task store of the application', () => {
  function mapStore() {
    const tasks = new Map<string, Task>();
    const put = async (task: Task) => void tasks.set(task.id, task);
    const store: TaskStore = {
      create: put,
      update: put,
      get: async (id) => tasks.get(id),
      delete: async (id) => tasks.delete(id),
      list: async ({ limit = 100, offset = 0 } = {}) => [...tasks.values()].slice(offset, offset + limit),
    };
    return { tasks, store };
  }

  it('has every task, and gives it back after a restart; what had not ended has failed', async () => {
    const { tasks, store } = mapStore();
    const work: A2AServerOptions = {
      taskStore: store,
      agent: {
        execute: async ({ text }, events) => (text === 'wait' ? new Promise(() => {}) : events.complete('done')),
      },
    };
    const first = await startServer(work);
    const done = await first.client.sendMessage({ message: newMessage('go') });
    const working = await first.client.sendMessage({
      message: newMessage('wait'),
      configuration: { returnImmediately: true },
    });
    if (done.task === undefined || working.task === undefined) throw new Error('no task');
    expect(tasks.get(done.task.id)?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(tasks.has(working.task.id)).toBe(true);
    // Nothing of the first process is left but the store.
    const second = await startServer(work);
    expect(await second.client.getTask({ id: done.task.id })).toEqual(await first.client.getTask({ id: done.task.id }));
    expect(await second.client.getTask({ id: working.task.id })).toMatchObject({
      status: {
        state: 'TASK_STATE_FAILED',
        message: { parts: [{ text: 'The server was restarted before the task had ended' }] },
      },
    });
    expect(tasks.get(working.task.id)?.status.state).toBe('TASK_STATE_FAILED');
  });

  it('that fails keeps callers waiting for nothing: they are told to come again', async () => {
    const { store } = mapStore();
    const failing = { ...store, create: () => Promise.reject(new Error('the database is away')) };
    const { client } = await startServer({ taskStore: failing, agent: (prompt) => prompt });
    await expect(client.sendMessage({ message: newMessage('go') })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('stands in the place of a storage, not beside it', async () => {
    const { store } = mapStore();
    const storage = { accept() {} } as never;
    const agent = (prompt: string) => prompt;
    expect(() => createA2AServer({ agent, storage, taskStore: store })).toThrow(
      'needs either storage or taskStore, not both',
    );
    expect(() => createA2AServer({ agent, taskStore: {} as TaskStore })).toThrow('taskStore: needs a method update');
  });
});
