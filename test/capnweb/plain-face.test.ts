import { RpcTarget } from 'capnweb';
import { ApiKeys, anyOf, BearerTokens } from 'parley-a2a/auth';
import { LoggingCallback } from 'parley-a2a-capnweb';
import { describe, expect, it, vi } from 'vitest';
import { refusal, servedAgent } from './session-world.js';

/** A message of 0.3. */
const message = (text: string, more: object = {}) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...more,
});

/** A result of the face, as a client without types reads it. */
interface Read {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
  readonly artifacts: readonly { readonly parts: readonly { readonly text: string }[] }[];
}

interface Face {
  authenticate(credential: unknown): Face;
  getAgentCard(): Promise<object>;
  sendMessage(message: unknown, config?: unknown): Promise<Read>;
  sendMessageStreaming(message: unknown, config?: unknown, callback?: unknown): Promise<Followed>;
  getTask(id: unknown, historyLength?: unknown): Promise<Read>;
  listTasks(params?: unknown): Promise<{ tasks: readonly Read[]; total: number; hasMore: boolean }>;
  cancelTask(id: unknown): Promise<Read>;
}

interface Followed {
  subscribe(callback: unknown): Promise<Disposable>;
  unsubscribeCallback(callback: unknown): Promise<void>;
  isFinalState(): Promise<boolean>;
  getTask(historyLength?: unknown): Promise<Read>;
  dispose(): Promise<void>;
}

async function servedFace(options: Parameters<typeof servedAgent>[0] = {}) {
  const served = await servedAgent(options);
  return { ...served, open: () => served.open().entrance as unknown as Face };
}

type Event = { readonly type: string; readonly status?: { readonly state: string }; readonly final?: boolean };

/** A callback that keeps its events, and a promise for the final one. */
function collector() {
  const events: Event[] = [];
  const over = Promise.withResolvers<void>();
  const take = (event: Event) => {
    events.push(event);
    if (event.final === true) over.resolve();
  };
  return { events, take, over: over.promise, states: () => events.map(({ status }) => status?.state ?? 'artifact') };
}

/** An agent whose tasks wait until they get a message that says `go`. */
const waiting = {
  execute: async (context: { readonly message: { readonly parts: readonly object[] } }, events: never) => {
    const said = JSON.stringify(context.message.parts);
    const queue = events as Record<'inputRequired' | 'artifact' | 'complete', (text?: string) => Promise<unknown>>;
    if (!said.includes('go')) return void (await queue.inputRequired('and?'));
    await queue.artifact('done');
    await queue.complete();
  },
};

describe('plain arguments at the entrance', () => {
  it('send a message, and read, list and cancel its task in the shapes of 0.3', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    const sent = await entrance.sendMessage(message('hi'), { blocking: true });
    expect(sent).toMatchObject({ kind: 'task', status: { state: 'input-required', message: { kind: 'message' } } });
    expect(await entrance.getTask(sent.id, 0)).not.toHaveProperty('history');
    expect(await entrance.listTasks({ contextId: sent.contextId })).toMatchObject({
      tasks: [{ kind: 'task', id: sent.id }],
      total: 1,
      hasMore: false,
    });
    expect(await entrance.cancelTask(sent.id)).toMatchObject({ id: sent.id, status: { state: 'canceled' } });
    expect(await refusal(entrance.getTask('none'))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(await refusal(entrance.sendMessage('hi'))).toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('lists parts of the tasks, newest first, by states and by the time of creation', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    const ids: string[] = [];
    for (const text of ['one', 'two', 'go']) ids.push((await entrance.sendMessage(message(text))).id);
    const listIndexes = async (params?: object): Promise<{ ids: number[]; total: number; hasMore: boolean }> => {
      const { tasks, total, hasMore } = await entrance.listTasks(params);
      return { ids: tasks.map(({ id }) => ids.indexOf(id)), total, hasMore };
    };
    expect(await listIndexes()).toEqual({ ids: [2, 1, 0], total: 3, hasMore: false });
    expect(await listIndexes({ limit: 1, offset: 1 })).toEqual({ ids: [1], total: 3, hasMore: true });
    const states = (...names: string[]) => listIndexes({ filter: { states: names }, limit: 1 });
    expect(await states('input-required')).toEqual({ ids: [1], total: 2, hasMore: true });
    expect(await states('completed', 'input-required')).toEqual({ ids: [2], total: 3, hasMore: true });
    expect(await listIndexes({ filter: { createdAfter: '2020-01-01' } })).toMatchObject({ total: 3 });
    expect(await listIndexes({ filter: { createdBefore: '2020-01-01T00:00:00Z' } })).toMatchObject({ total: 0 });
    for (const wrong of [
      { limit: -1 },
      { offset: 0.5 },
      { filter: { states: ['odd'] } },
      { filter: { createdAfter: 'x' } },
    ])
      expect(await refusal(entrance.listTasks(wrong))).toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('show the card with the members of 1.0 and of 0.3', async () => {
    const capabilities = { streaming: true, bidirectional: true, taskManagement: true, fileTransfer: true };
    const both = await servedFace();
    const url = `${both.url}/a2a/capnweb`;
    const address = { url, transport: 'CAPNWEB' };
    expect(await both.open().getAgentCard()).toMatchObject({
      supportedInterfaces: expect.arrayContaining([expect.objectContaining({ url })]),
      preferredTransport: 'JSONRPC',
      additionalInterfaces: expect.arrayContaining([address]),
      capabilities,
      authentication: [],
    });
    const current = await servedFace({ versions: ['1.0'] });
    expect(await current.open().getAgentCard()).toMatchObject({
      url: `${current.url}/a2a/capnweb`,
      preferredTransport: 'CAPNWEB',
      capabilities,
    });
  });

  it('are refused without a credential if the agent asks for one', async () => {
    const { open } = await servedFace({
      authenticator: new BearerTokens([{ token: 'pl4nted-s3cret-token', subject: 'ada' }]),
    });
    expect(await refusal(open().sendMessage(message('hi')))).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });
});

describe('plain arguments for a user', () => {
  const tokens = new BearerTokens([
    { token: 'pl4nted-s3cret-ada', subject: 'ada' },
    { token: 'pl4nted-s3cret-bob', subject: 'bob' },
  ]);
  const keys = new ApiKeys([{ key: 'pl4nted-s3cret-key', subject: 'eve' }]);
  /** Answers with the metadata of the message. */
  const agent = {
    execute: async (
      context: { readonly message: { readonly metadata?: object } },
      events: { artifact(text: string): Promise<unknown>; complete(): Promise<unknown> },
    ) => {
      await events.artifact(JSON.stringify(context.message.metadata ?? null));
      await events.complete();
    },
  };
  const serveGuardedFace = () => servedFace({ agent: agent as never, authenticator: anyOf(tokens, keys) });
  const textOf = ({ artifacts: [artifact] }: Read) => artifact?.parts[0]?.text ?? '';

  it('carry the id of the user in the metadata, and nobody can choose another', async () => {
    const { open } = await serveGuardedFace();
    const service = open().authenticate({ type: 'bearer', token: 'pl4nted-s3cret-ada' });
    expect(textOf(await service.sendMessage(message('hi')))).toBe('{"userId":"bearer|ada"}');
    const metadata = { userId: 'bearer|bob', more: 1 };
    expect(JSON.parse(textOf(await service.sendMessage(message('hi', { metadata }))))).toEqual({
      userId: 'bearer|ada',
      more: 1,
    });
    const other = open().authenticate({ type: 'apikey', apiKey: 'pl4nted-s3cret-key' });
    expect(textOf(await other.sendMessage(message('hi')))).toBe('{"userId":"apikey|eve"}');
  });

  it('do not find the tasks of others', async () => {
    const { open } = await serveGuardedFace();
    const entrance = open();
    const userOf = (token: string) => entrance.authenticate({ type: 'bearer', token });
    const [ada, bob] = [userOf('pl4nted-s3cret-ada'), userOf('pl4nted-s3cret-bob')];
    const { id } = await ada.sendMessage(message('hi'));
    expect(await refusal(bob.getTask(id))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(await refusal(bob.cancelTask(id))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(await bob.listTasks()).toMatchObject({ tasks: [], total: 0 });
    expect(await ada.listTasks()).toMatchObject({ total: 1 });
    expect(await refusal(entrance.getTask(id))).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it.each([
    [{ type: 'bearer', token: 'wrong' }, 'UNAUTHENTICATED'],
    [{ type: 'apikey', apiKey: 'wrong' }, 'UNAUTHENTICATED'],
    [{ type: 'mtls' }, 'UNAUTHENTICATED'],
    [{ type: 'bearer' }, 'INVALID_PARAMS'],
    [{ type: 'constructor', token: 'x' }, 'INVALID_PARAMS'],
  ])('are refused with the credential %j: %s', async (credential, reason) => {
    const { open } = await serveGuardedFace();
    expect(await refusal(open().authenticate(credential) as never)).toMatchObject({ reason });
  });

  it('take every caller of an agent without authentication', async () => {
    const { open } = await servedFace();
    const service = open().authenticate({ type: 'bearer', token: 'any' });
    expect(await service.sendMessage(message('hi'))).toMatchObject({ status: { state: 'completed' } });
  });
});

describe('the task of a stream', () => {
  it('gives a callback every event from the first to the last', async () => {
    const { open } = await servedFace();
    const { take, over, events, states } = collector();
    const task = await open().sendMessageStreaming(message('hi'), undefined, take);
    await over;
    expect(states()).toEqual(['submitted', 'working', 'artifact', 'completed']);
    expect(events.filter(({ final }) => final === true)).toHaveLength(1);
    expect(await task.isFinalState()).toBe(true);
    expect(await task.getTask()).toMatchObject({ kind: 'task', status: { state: 'completed' } });
  });

  it('goes on after a wait for input, which ends other streams', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    const { take, over, states } = collector();
    const task = await entrance.sendMessageStreaming(message('hi'), {}, take);
    await vi.waitFor(() => expect(states()).toContain('input-required'), 15_000);
    expect(await task.isFinalState()).toBe(false);
    const { id: taskId, contextId } = await task.getTask(0);
    await entrance.sendMessage(message('go', { taskId, contextId }));
    await over;
    expect(states().slice(-3)).toEqual(['working', 'artifact', 'completed']);
  });

  it('shows the state now to a late callback, also after the end', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    const task = await entrance.sendMessageStreaming(message('hi'));
    await vi.waitFor(async () => expect((await task.getTask()).status.state).toBe('input-required'), 15_000);
    const late = collector();
    await task.subscribe(late.take);
    await vi.waitFor(() => expect(late.states()).toEqual(['input-required']), 15_000);
    const { id } = await task.getTask();
    await entrance.cancelTask(id);
    await late.over;
    const after = collector();
    await task.subscribe(after.take);
    await after.over;
    expect(after.states()).toEqual(['canceled']);
  });

  it('takes functions, objects of a class and plain objects as callbacks', async () => {
    const { open } = await servedFace();
    const entrance = open();
    const task = await entrance.sendMessageStreaming(message('hi'));
    const [one, two] = [collector(), collector()];
    class Listener extends RpcTarget {
      onStatusUpdate(event: Event) {
        one.take(event);
      }
      onArtifactUpdate(event: Event) {
        one.take(event);
      }
    }
    await task.subscribe(new Listener());
    await task.subscribe({ onStatusUpdate: two.take });
    const lines: string[] = [];
    await task.subscribe(
      new LoggingCallback({
        info: (text: string, fields?: object) => void lines.push(`${text} ${JSON.stringify(fields)}`),
      }),
    );
    await Promise.all([one.over, two.over]);
    expect(one.states().sort()).toEqual(['artifact', 'completed']);
    expect(two.states()).toEqual(['completed']);
    await vi.waitFor(() => expect(lines.join('\n')).toMatch(/"state":"completed"/), 15_000);
    for (const wrong of [{}, 'x', undefined, { onStatusUpdate: 1 }])
      expect(await refusal(task.subscribe(wrong))).toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('removes a callback that fails, and the others go on', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    let calls = 0;
    const fail = () => {
      calls += 1;
      throw new Error('broken');
    };
    const good = collector();
    const stuck = collector();
    const task = await entrance.sendMessageStreaming(message('hi'), {}, fail);
    await task.subscribe(good.take);
    await task.subscribe((event: Event) => {
      stuck.take(event);
      return new Promise(() => {});
    });
    await vi.waitFor(() => expect(good.states()).toContain('input-required'), 15_000);
    await vi.waitFor(() => expect(stuck.events).toHaveLength(1), 15_000);
    const { id: taskId } = await task.getTask();
    await entrance.sendMessage(message('go', { taskId }));
    await good.over;
    expect(calls).toBe(1);
    expect(stuck.events).toHaveLength(1);
  });

  it('removes a callback by its subscription, by its id, or as the only one', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    const task = await entrance.sendMessageStreaming(message('hi'));
    await vi.waitFor(async () => expect((await task.getTask()).status.state).toBe('input-required'), 15_000);
    const [a, b, c, d] = [collector(), collector(), collector(), collector()];
    const first = await task.subscribe(a.take);
    await task.subscribe({ id: 'b', onStatusUpdate: b.take });
    await task.subscribe(c.take);
    await vi.waitFor(() => expect([a, b, c].map(({ events }) => events.length)).toEqual([1, 1, 1]), 15_000);
    expect(await refusal(task.unsubscribeCallback(a.take))).toMatchObject({ reason: 'INVALID_PARAMS' });
    await task.unsubscribeCallback(first);
    await task.unsubscribeCallback({ id: 'b' });
    await task.unsubscribeCallback(c.take);
    await task.subscribe(d.take);
    await entrance.sendMessage(message('go', { taskId: (await task.getTask()).id }));
    await d.over;
    expect([a, b, c].map(({ events }) => events.length)).toEqual([1, 1, 1]);
  });

  it('ends when it is disposed, and the task goes on', async () => {
    const { open } = await servedFace({ agent: waiting as never });
    const entrance = open();
    const { take, states } = collector();
    const task = await entrance.sendMessageStreaming(message('hi'), {}, take);
    await vi.waitFor(() => expect(states()).toContain('input-required'), 15_000);
    const { id } = await task.getTask();
    await task.dispose();
    expect(await refusal(task.getTask())).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    expect(await entrance.getTask(id)).toMatchObject({ status: { state: 'input-required' } });
  });

  it('is the message of an agent that makes no task', async () => {
    const pong = {
      replies: 'either',
      execute: (_: unknown, events: { message(text: string): unknown }) => events.message('pong'),
    };
    const { open } = await servedFace({ agent: pong as never });
    expect(await open().sendMessageStreaming(message('ping'))).toMatchObject({
      kind: 'message',
      role: 'agent',
    });
  });
});
