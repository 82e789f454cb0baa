import { randomUUID } from 'node:crypto';
import { newWebSocketRpcSession } from 'capnweb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallbackEvent, PlainService, PlainTask } from './capnweb-plain-peer.js';
import { ExampleServer } from './example-server.js';

let server: ExampleServer;
beforeAll(async () => {
  server = await ExampleServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A session of the stock client with the agent of 0.3. Its card does not list the address. */
async function session(): Promise<PlainService> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/spec03/capnweb`);
  onTestFinished(() => socket.close());
  return newWebSocketRpcSession(socket) as unknown as PlainService;
}

const message = (text: string, more: object = {}) => ({
  kind: 'message',
  messageId: randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...more,
});

/** Begins a task, and does not wait for it. */
const beginTask = (service: PlainService, text: string) => service.sendMessage(message(text), { blocking: false });

/** The own members of the error of a call. */
const refusal = (call: Promise<unknown>) =>
  call.then(
    (value) => ({ value }),
    (error: unknown) => ({ ...(error as object) }),
  );

/** A callback that keeps its events. */
function collector() {
  const events: CallbackEvent[] = [];
  const over = Promise.withResolvers<void>();
  return {
    events,
    take: (event: CallbackEvent) => {
      events.push(event);
      if (event.final === true) over.resolve();
    },
    over: over.promise,
    shown: () => events.map(({ status, artifact }) => status?.state ?? artifact?.artifactId),
  };
}

describe("the stock client of Cap'n Web with plain arguments at /spec03", { timeout: 30_000 }, () => {
  it('sees the events of a stream, the end in the last one and only there', async () => {
    const service = await session();
    const { events, take, over, shown } = collector();
    const task = await service.sendMessageStreaming(message('streaming'), undefined, take);
    expect(await task.isFinalState()).toBe(false);
    await over;
    const chunk = 'stream-result';
    expect(shown()).toEqual(['submitted', 'working', chunk, chunk, chunk, chunk, 'completed']);
    expect(events.map(({ final }) => final === true)).toEqual([...Array(6).fill(false), true]);
    expect(new Set(events.map(({ taskId, contextId }) => `${taskId} ${contextId}`)).size).toBe(1);
    expect(await task.isFinalState()).toBe(true);
    const { id, kind, artifacts, status } = await task.getTask();
    expect({ id, kind, state: status.state }).toEqual({ id: events[0]?.taskId, kind: 'task', state: 'completed' });
    expect(artifacts?.map(({ artifactId }) => artifactId)).toEqual([chunk]);
    expect(await service.getTask(id)).toEqual(await task.getTask());
  });

  it('shows the same events to all callbacks, and one that leaves or fails disturbs no other', async () => {
    const service = await session();
    const [first, second, left] = [collector(), collector(), collector()];
    const task = await service.sendMessageStreaming(message('multi-turn'), undefined, first.take);
    await vi.waitFor(() => expect(first.shown()).toContain('input-required'), { timeout: 10_000 });
    await task.subscribe({ onStatusUpdate: second.take, onArtifactUpdate: second.take });
    const subscription = await task.subscribe(left.take);
    let calls = 0;
    await task.subscribe(() => {
      calls += 1;
      throw new Error('broken');
    });
    // They begin with the task as it is now. Its artifact may not be complete.
    const now = ['input-required', 'turn-1'];
    for (const { shown } of [second, left]) await vi.waitFor(() => expect(shown()).toEqual(now), { timeout: 10_000 });
    expect(second.events[1]).not.toHaveProperty('lastChunk');
    await vi.waitFor(() => expect(calls).toBe(1), { timeout: 10_000 });
    await task.unsubscribeCallback(subscription);
    const { id: taskId } = await task.getTask(0);
    const seen = first.events.length;
    for (const text of ['more', 'done']) await service.sendMessage(message(text, { taskId }));
    await Promise.all([first.over, second.over]);
    expect(second.events.slice(now.length)).toEqual(first.events.slice(seen));
    expect(second.shown().slice(now.length)).toEqual([
      'working',
      'turn-2',
      'input-required',
      'working',
      'final',
      'completed',
    ]);
    expect(left.shown()).toEqual(now);
    expect(calls).toBe(1);
  });

  it.each([
    ['task-cancel', 'working'],
    ['multi-turn', 'input-required'],
  ])('cancels %s, which is then %s, and callbacks see the end', async (text, state) => {
    const service = await session();
    const { take, over, shown, events } = collector();
    const task = await service.sendMessageStreaming(message(text), undefined, take);
    await vi.waitFor(() => expect(shown()).toContain(state), { timeout: 10_000 });
    const { id } = await task.getTask(0);
    expect(await service.cancelTask(id)).toMatchObject({ kind: 'task', id, status: { state: 'canceled' } });
    await over;
    expect(events.at(-1)).toMatchObject({ type: 'status', status: { state: 'canceled' }, final: true });
    expect(await refusal(service.cancelTask(id))).toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    expect(await refusal(service.sendMessage(message('more', { taskId: id })))).toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('cancels a task that it did not wait for', async () => {
    const service = await session();
    const { id, status } = await beginTask(service, 'task-cancel');
    expect(['submitted', 'working']).toContain(status.state);
    expect(await service.cancelTask(id)).toMatchObject({ status: { state: 'canceled' } });
    expect(await service.getTask(id)).toMatchObject({ status: { state: 'canceled' } });
  });

  it('goes on with a task that waits, from another session too', async () => {
    const service = await session();
    const { take, over, shown } = collector();
    const task = await service.sendMessageStreaming(message('multi-turn'), undefined, take);
    await vi.waitFor(() => expect(shown()).toContain('input-required'), { timeout: 10_000 });
    const { id: taskId } = await task.getTask(0);
    const other = await session();
    const more = message('more', { taskId });
    expect(await other.sendMessage(more)).toMatchObject({ id: taskId, status: { state: 'input-required' } });
    const done = message('done', { taskId });
    expect(await other.sendMessage(done)).toMatchObject({ id: taskId, status: { state: 'completed' } });
    await over;
    expect(shown().at(-1)).toBe('completed');
    const { history = [] } = await service.getTask(taskId);
    const users = history.filter(({ role }) => role === 'user').map(({ messageId }) => messageId);
    expect(users.slice(1)).toEqual([more.messageId, done.messageId]);
    expect(new Set(history.map(({ messageId }) => messageId)).size).toBe(history.length);
  });

  it('reads as much history as it asks for', async () => {
    const service = await session();
    const { id } = await service.sendMessage(message('multi-turn'));
    const whole = (await service.getTask(id)).history ?? [];
    expect(whole.length).toBeGreaterThan(0);
    expect((await service.getTask(id, 0)).history ?? []).toEqual([]);
    expect((await service.getTask(id, 1)).history).toEqual(whole.slice(-1));
    expect(await refusal(service.getTask(id, -1))).toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('lists by context, by state and in parts', async () => {
    const service = await session();
    const contextId = randomUUID();
    const ids: string[] = [];
    for (const text of ['task-failure', 'multi-turn', 'data-types'])
      ids.push((await service.sendMessage(message(text, { contextId }))).id);
    const listIndexes = async (params: object) => {
      const { tasks, ...rest } = await service.listTasks({ contextId, ...params });
      return { ids: tasks.map(({ id }: PlainTask) => ids.indexOf(id)), ...rest };
    };
    expect(await listIndexes({})).toEqual({ ids: [2, 1, 0], total: 3, hasMore: false });
    expect(await listIndexes({ limit: 1, offset: 1 })).toEqual({ ids: [1], total: 3, hasMore: true });
    expect(await listIndexes({ filter: { states: ['failed', 'completed'] } })).toMatchObject({ ids: [2, 0], total: 2 });
    expect(await listIndexes({ contextId: randomUUID() })).toEqual({ ids: [], total: 0, hasMore: false });
  });

  it('gets an error for what the agent refuses', async () => {
    const service = await session();
    const reasons = async (calls: readonly Promise<unknown>[]) =>
      (await Promise.all(calls.map(refusal))).map((error) => (error as { reason?: string }).reason);
    expect(
      await reasons([
        service.getTask('nobody-knows'),
        service.cancelTask('nobody-knows'),
        service.sendMessage(message('x', { taskId: 'nobody-knows' })),
      ]),
    ).toEqual(Array(3).fill('TASK_NOT_FOUND'));
    const { id: taskId } = await service.sendMessage(message('multi-turn'));
    expect(
      await reasons([
        service.sendMessage(message('x', { parts: [] })),
        service.sendMessage(message('x', { messageId: undefined })),
        service.sendMessage(message('x', { taskId, contextId: randomUUID() })),
        service.sendMessageStreaming(message('x'), undefined, 'no function'),
      ]),
    ).toEqual(Array(4).fill('INVALID_PARAMS'));
    const pushNotificationConfig = { url: 'https://hook.example' };
    expect(await reasons([service.sendMessage(message('task-lifecycle'), { pushNotificationConfig })])).toEqual([
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    ]);
    expect(await reasons([Promise.resolve(service.authenticate({ parameters: { 'A2A-Version': '1.0' } }))])).toEqual([
      'VERSION_NOT_SUPPORTED',
    ]);
  });

  it('shares the tasks of the other bindings of the agent, and none of other agents', async () => {
    const service = await session();
    const { id } = await service.sendMessage(message('task-lifecycle'));
    const read = async (mount: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${server.url}${mount}`, { method: 'POST', headers, body });
      return (await response.json()) as { readonly result?: object; readonly error?: { readonly code: number } };
    };
    expect((await read('/spec03')).result).toEqual(await service.getTask(id));
    expect((await read('/')).error?.code).toBe(-32001);
  });
});
