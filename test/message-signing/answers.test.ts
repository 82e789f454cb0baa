import type { Artifact, Message, StreamResponse, Task } from 'parley-a2a';
import { SIGNING_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changingEvents } from './wire.js';
import { AUDIENCE, executor, keyPair, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
let url: string;
let answer: Task;

const agent = executor(
  async (context, events) => {
    if (context.text === 'direct') return events.message('at once');
    await events.working('reading');
    const id = await events.artifact('one', { name: 'report', metadata: { draft: 1 } });
    events.append(id, 'two', { metadata: { checked: [] } });
    events.append(id, [{ text: 'three' }, { data: { n: 1e21, nothing: null } }], { lastChunk: true });
    await events.artifact({ raw: 'AAEC', filename: 'b.bin', mediaType: 'application/x' }, { artifactId: 'bytes' });
    if (context.text === 'silent') return events.complete();
    await events.complete([{ text: 'done' }]);
  },
  { replies: 'either' },
);

beforeAll(async () => {
  world = await SignedWorld.make();
  ({ url } = await world.listen(agent));
  answer = taskOf(await (await world.client(url)).sendMessage('work'));
});
afterAll(() => world[Symbol.asyncDispose]());

const trust = () => ({ audience: AUDIENCE, agent: { keys: [world.agent.shown] } });
const first = (task: Task): Artifact => task.artifacts?.[0] as Artifact;
const statusMessage = (task: Task): Message => task.status.message as Message;
const withFirst = (task: Task, artifact: Artifact): Task => ({
  ...task,
  artifacts: [artifact, ...(task.artifacts ?? []).slice(1)],
});
const withParts = (task: Task, change: (parts: Artifact['parts']) => Artifact['parts']) =>
  withFirst(task, { ...first(task), parts: change(first(task).parts) });
const withMessage = (task: Task, message: Message): Task => ({ ...task, status: { ...task.status, message } });

describe('a stored task', () => {
  it('is verified as a whole, and each of its artifacts alone', async () => {
    await verifySigned({ task: answer }, trust());
    expect(first(answer)).toMatchObject({ name: 'report', metadata: { draft: 1, checked: [] } });
    for (const artifact of answer.artifacts ?? [])
      await verifySigned({ artifact, taskId: answer.id, contextId: answer.contextId ?? '' }, trust());
  });

  it.each<[string, (task: Task) => Task]>([
    ['a changed text', (t) => withParts(t, (parts) => [{ text: 'One' }, ...parts.slice(1)])],
    ['a missing part', (t) => withParts(t, (parts) => parts.slice(0, -1))],
    ['a missing first part', (t) => withParts(t, (parts) => parts.slice(1))],
    ['a repeated part', (t) => withParts(t, (parts) => [...parts, ...parts.slice(-1)])],
    ['swapped parts', (t) => withParts(t, (parts) => parts.toReversed())],
    ['a changed name', (t) => withFirst(t, { ...first(t), name: 'other' })],
    ['a changed id of an artifact', (t) => withFirst(t, { ...first(t), artifactId: 'other' })],
    ['changed metadata', (t) => withFirst(t, { ...first(t), metadata: { ...first(t).metadata, draft: 2 } })],
    ['no signature of an artifact', ({ ...t }) => withFirst(t, (({ metadata: _, ...rest }) => rest)(first(t)))],
    [
      'the signature of another artifact',
      (t) =>
        withFirst(t, {
          ...first(t),
          metadata: {
            ...first(t).metadata,
            [SIGNING_EXTENSION]: t.artifacts?.[1]?.metadata?.[SIGNING_EXTENSION] as never,
          },
        }),
    ],
    [
      'the signature of a message',
      (t) =>
        withFirst(t, {
          ...first(t),
          metadata: {
            ...first(t).metadata,
            [SIGNING_EXTENSION]: statusMessage(t).metadata?.[SIGNING_EXTENSION] as never,
          },
        }),
    ],
    ['a missing artifact', (t) => ({ ...t, artifacts: t.artifacts?.slice(0, 1) ?? [] })],
    ['a second artifact', (t) => ({ ...t, artifacts: [...(t.artifacts ?? []), { ...first(t), artifactId: 'copy' }] })],
    ['swapped artifacts', (t) => ({ ...t, artifacts: t.artifacts?.toReversed() ?? [] })],
    ['another task', (t) => ({ ...t, id: 'other' })],
    ['another context', (t) => ({ ...t, contextId: 'other' })],
    ['a changed message', (t) => withMessage(t, { ...statusMessage(t), parts: [{ text: 'failed' }] })],
    ['another state', (t) => ({ ...t, status: { ...t.status, state: 'TASK_STATE_REJECTED' } })],
    ['an unsigned message', (t) => withMessage(t, (({ metadata: _, ...rest }) => rest)(statusMessage(t)))],
    ['a message of a user', (t) => ({ ...t, history: [{ ...statusMessage(t), role: 'ROLE_AGENT', messageId: 'x' }] })],
  ])('is refused with %s', async (_, change) => {
    await expect(verifySigned({ task: change(answer) }, trust())).rejects.toThrow(/./);
    await expect(verifySigned({ task: change(answer) }, trust())).rejects.toMatchObject({
      name: 'UntrustedContentError',
    });
  });

  it('is refused by the key of another agent, and under the name of another agent', async () => {
    const other = await keyPair('agent-1');
    await expect(verifySigned({ task: answer }, { ...trust(), agent: { keys: [other.shown] } })).rejects.toThrow(
      'not by this key',
    );
    await expect(verifySigned({ task: answer }, { ...trust(), audience: 'https://other.example' })).rejects.toThrow(
      'by another agent',
    );
  });
});

/** Streams a message through a proxy that changes events. */
async function collectEvents(change: Parameters<typeof changingEvents>[0], text = 'work'): Promise<StreamResponse[]> {
  const client = await world.client(url, {}, { interceptors: [changingEvents(change)], resume: { attempts: 0 } });
  const events: StreamResponse[] = [];
  for await (const event of client.sendStreamingMessage(text)) events.push(event);
  return events;
}

const isChunk = (event: StreamResponse, text: string) =>
  event.artifactUpdate?.artifact.parts.some((part) => part.text !== undefined && part.text === text);

describe('a stream', () => {
  it.each(['work', 'silent', 'direct'])('is verified event by event: %s', async (text) => {
    const events = await collectEvents((event) => [event], text);
    expect(events.length).toBe(text === 'direct' ? 1 : 7);
  });

  it.each<[string, string, Parameters<typeof changingEvents>[0]]>([
    ['a dropped chunk', 'work', (event) => (isChunk(event, 'two') ? [] : [event])],
    ['a repeated chunk', 'work', (event) => (isChunk(event, 'two') ? [event, event] : [event])],
    [
      'reordered chunks',
      'work',
      (event, seen) =>
        isChunk(event, 'two') ? [] : isChunk(event, 'three') ? [event, seen.at(-1) as StreamResponse] : [event],
    ],
    ['a dropped last chunk', 'work', (event) => (isChunk(event, 'three') ? [] : [event])],
    [
      'a dropped artifact',
      'work',
      (event) =>
        event.artifactUpdate !== undefined && event.artifactUpdate.artifact.artifactId === 'bytes' ? [] : [event],
    ],
    [
      'a dropped artifact, without a last message',
      'silent',
      (event) =>
        event.artifactUpdate !== undefined && event.artifactUpdate.artifact.artifactId === 'bytes' ? [] : [event],
    ],
    [
      'a changed chunk',
      'work',
      (event) =>
        event.artifactUpdate !== undefined
          ? [
              {
                artifactUpdate: {
                  ...event.artifactUpdate,
                  artifact: { ...event.artifactUpdate.artifact, parts: [{ text: 'x' }] },
                },
              },
            ]
          : [event],
    ],
    [
      'a chunk that replaces instead of appending',
      'work',
      (event) =>
        event.artifactUpdate !== undefined ? [{ artifactUpdate: { ...event.artifactUpdate, append: false } }] : [event],
    ],
    [
      'an early end',
      'work',
      (event) =>
        event.artifactUpdate !== undefined
          ? [
              {
                statusUpdate: {
                  taskId: event.artifactUpdate.taskId,
                  contextId: event.artifactUpdate.contextId,
                  status: { state: 'TASK_STATE_COMPLETED' },
                },
              },
            ]
          : [event],
    ],
    [
      'another state',
      'silent',
      (event) =>
        event.statusUpdate !== undefined && event.statusUpdate.status.state === 'TASK_STATE_COMPLETED'
          ? [
              {
                statusUpdate: {
                  ...event.statusUpdate,
                  status: { ...event.statusUpdate.status, state: 'TASK_STATE_REJECTED' },
                },
              },
            ]
          : [event],
    ],
    ['the answer to another message', 'direct', () => [{ message: direct }]],
    ['the task of another message', 'work', () => [{ task: answer }]],
  ])('is refused with %s', async (_, text, change) => {
    await expect(collectEvents(change, text)).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
  });

  let direct: Message;
  beforeAll(async () => {
    const reply = await (await world.client(url)).sendMessage('direct');
    if (reply.message !== undefined) direct = reply.message;
  });

  it('a direct message is verified alone', async () => {
    await verifySigned({ message: direct }, trust());
    await expect(verifySigned({ message: direct, re: 'm-2' }, trust())).rejects.toThrow('another message');
    await expect(verifySigned({ message: { ...direct, contextId: 'c' } }, trust())).rejects.toThrow(
      'not over this content',
    );
  });
});

it('unsigned answers are refused, unless they need no signature; wrong ones are refused always', async () => {
  const { url: plain } = await world.listen(agent, { keys: undefined as never });
  await expect((await world.client(plain)).sendMessage('work')).rejects.toMatchObject({
    code: 'INVALID_AGENT_RESPONSE',
  });
  const lenient = await world.client(plain, { required: false });
  expect(taskOf(await lenient.sendMessage('work')).status.state).toBe('TASK_STATE_COMPLETED');
});
