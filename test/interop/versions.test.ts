import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { stateIn, textsIn, WAYS } from './version-ways.js';
import { type Body, reasonOf, Wire, type WireRequest } from './wire.js';

let server: ExampleServer;
let wire: Wire;
beforeAll(async () => {
  server = await ExampleServer.start();
  wire = new Wire(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

const PAIRS = WAYS.flatMap((first) =>
  WAYS.map((second) => ({ first, second, title: `${first.name}, ${second.name}` })),
);
const collect = async (states: AsyncIterable<string>) => {
  const all: string[] = [];
  for await (const state of states) all.push(state);
  return all;
};
/** Begins a task that works for some seconds, without waiting for it. */
async function working(way: (typeof WAYS)[number]): Promise<{ id: string; states: Promise<string[]> }> {
  const messageId = `test-resubscribe-message-id-${randomUUID()}`;
  const states = collect(way.stream(wire, { text: 'work', messageId }));
  // The stream tells no ids here, but the task is the only one with this message.
  const id = await taskWith(messageId);
  return { id, states };
}

async function taskWith(messageId: string): Promise<string> {
  for (;;) {
    const { body } = await wire.send('/a2a/rest/tasks?pageSize=100&historyLength=10');
    const tasks = body.tasks as readonly Body[];
    const found = tasks.find(({ history }) => (history as readonly Body[])?.some((one) => one.messageId === messageId));
    if (found !== undefined) return String(found.id);
  }
}

describe.each(PAIRS)('a task made in one version and used in the other: $title', ({ first, second }) => {
  it('is read', async () => {
    const { id } = await first.send(wire, { text: 'hello', messageId: `tck-artifact-text-${randomUUID()}` });
    const task = await second.get(wire, String(id));
    expect([task.id, stateIn(task)]).toEqual([id, 'TASK_STATE_COMPLETED']);
    expect(JSON.stringify(task.artifacts)).toContain('Generated text content');
  });

  it('is continued, and its stream ends with the turn', async () => {
    const begun = await first.send(wire, { text: 'hello' });
    expect(stateIn(begun)).toBe('TASK_STATE_INPUT_REQUIRED');
    const taskId = String(begun.id);
    const states = await collect(second.stream(wire, { text: 'and more', taskId }));
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED']);
    expect(textsIn(await first.get(wire, taskId))).toEqual(expect.arrayContaining(['hello', 'and more']));
  });

  it('is watched and canceled', async () => {
    const { id, states } = await working(first);
    const watched: string[] = [];
    let canceled: Promise<Body> | undefined;
    for await (const state of second.subscribe(wire, id)) {
      watched.push(state);
      canceled ??= second.cancel(wire, id);
    }
    expect(stateIn((await canceled) ?? {})).toBe('TASK_STATE_CANCELED');
    expect(watched.at(-1)).toBe('TASK_STATE_CANCELED');
    expect((await states).at(-1)).toBe('TASK_STATE_CANCELED');
    expect(stateIn(await first.get(wire, id))).toBe('TASK_STATE_CANCELED');
  });
});

describe('the version of a call (§4.1)', () => {
  const current = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'message-only' }] } };
  const old = { message: { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'message-only' }] } };
  const requestIn = (version: string | undefined): WireRequest =>
    version === undefined ? { unversioned: true } : { headers: { 'a2a-version': version } };
  const OK = undefined;

  it.each<readonly [string, string, string | undefined, number | undefined]>([
    ['/', 'SendMessage', '1.0', OK],
    ['/', 'SendMessage', undefined, OK],
    ['/', 'SendMessage', '0.3', OK],
    ['/', 'message/send', undefined, OK],
    ['/', 'message/send', '', OK],
    ['/', 'message/send', '0.3', OK],
    ['/', 'message/send', '0.3.0', OK],
    ['/', 'message/send', '1.0', -32009],
    ['/', 'message/send', '0.2.5', -32009],
    ['/', 'SendMessage', '2.0', -32009],
    ['/', 'tasks/list', undefined, -32601],
    ['/spec03', 'message/send', undefined, OK],
    ['/spec03', 'message/send', '0.3', OK],
    ['/spec03', 'SendMessage', '1.0', -32009],
    ['/spec03', 'SendMessage', undefined, -32601],
    ['/spec03', 'ListTasks', undefined, -32601],
    ['/spec', 'message/send', undefined, -32009],
    ['/spec', 'message/send', '1.0', -32601],
    ['/tck', 'message/send', undefined, -32009],
    ['/tck', 'SendMessage', undefined, -32009],
    ['/hello', 'message/send', undefined, OK],
    ['/hello', 'message/send', '0.2', OK],
    ['/hello', 'message/send', '0.2.5', OK],
    ['/hello', 'message/send', '0.3', -32009],
    ['/hello', 'SendMessage', '1.0', OK],
    ['/hello', 'agent/getAuthenticatedExtendedCard', undefined, -32601],
    ['/spec03', 'agent/getAuthenticatedExtendedCard', undefined, -32004],
    ['/spec03', 'agent/authenticatedExtendedCard', undefined, -32004],
  ])('over JSON-RPC at %s, %s with %s', async (path, method, version, code) => {
    const { body } = await wire.rpc(path, method, method.includes('/') ? old : current, requestIn(version));
    expect((body.error as Body | undefined)?.code).toBe(code);
  });

  it.each<readonly [string, string | undefined, number]>([
    ['/a2a/rest/message:send', '1.0', 200],
    ['/a2a/rest/message:send', undefined, 200],
    ['/a2a/rest/v1/message:send', undefined, 200],
    ['/a2a/rest/v1/message:send', '0.3', 200],
    ['/a2a/rest/v1/message:send', '1.0', 400],
    ['/a2a/rest/v1/tasks', undefined, 404],
    ['/a2a/rest/v1/tasks', '1.0', 404],
    ['/spec03/v1/message:send', undefined, 200],
    ['/spec03/message:send', undefined, 404],
    ['/spec03/message:send', '1.0', 404],
    ['/spec/v1/message:send', undefined, 400],
    ['/hello/v1/message:send', undefined, 200],
    ['/hello/message:send', '1.0', 200],
  ])('over HTTP+JSON at %s with %s', async (path, version, status) => {
    const isOld = path.includes('/v1/');
    const message = { messageId: 'm', role: 'ROLE_USER', [isOld ? 'content' : 'parts']: [{ text: 'message-only' }] };
    const request = path.endsWith('/tasks') ? {} : { body: { message } };
    expect((await wire.send(path, { ...request, ...requestIn(version) })).status).toBe(status);
  });

  it('of 0.2.5 over HTTP+JSON has the names of its protobuf definition', async () => {
    const request = { request: { message_id: 'm', role: 'ROLE_USER', content: [{ text: 'Ada' }] } };
    const { body } = await wire.send('/hello/v1/message:send', { unversioned: true, body: request });
    expect((body.task as Body).status).toMatchObject({
      update: { content: [{ text: expect.stringContaining('Ada') }] },
    });
  });

  it('decides over the form of an error', async () => {
    const plain = await wire.send('/spec03/v1/tasks/nobody', { unversioned: true });
    expect([plain.status, plain.headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(plain.body).toMatchObject({ code: -32001, message: 'Task not found' });
    expect(reasonOf(await wire.send('/spec/tasks/nobody'))).toBe('TASK_NOT_FOUND');
  });

  it('is no tenant where 0.3 is on, and one like any other where it is not', async () => {
    expect((await wire.send('/a2a/rest/v1/tasks')).status).toBe(404);
    expect((await wire.send('/spec/v1/tasks')).status).toBe(200);
  });
});
