import type { Client, StreamResponse, Task } from 'parley-a2a';
import { connect } from 'parley-a2a';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { SIGNING_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changingEvents } from './wire.js';
import { WIRES } from './wires.js';
import { AUDIENCE, executor, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
let url: string;
let server: Awaited<ReturnType<SignedWorld['listen']>>['server'];

/** An agent whose turns the engine ends: by an error, or by a cancel. */
const agent = executor(async (context, events) => {
  await events.artifact('begun', { artifactId: 'a' });
  if (context.text === 'throw') throw new Error('secret');
  if (context.text === 'silent') return events.complete();
  if (context.text === 'ask') await context.requestAuthorization({ message: 'please', url: 'https://example.com/go' });
  await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
});

beforeAll(async () => {
  world = await SignedWorld.make();
  const bindings = [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()];
  ({ url, server } = await world.listen(agent, {}, { versions: ['1.0', '0.3'], bindings }));
});
afterAll(() => world[Symbol.asyncDispose]());

const trust = () => ({ audience: AUDIENCE, agent: { keys: [world.agent.shown] } });

async function beginTask(client: Client, text: string): Promise<string> {
  const stream = client.sendStreamingMessage(text);
  for await (const event of stream) if (event.artifactUpdate !== undefined) break;
  return stream.taskId ?? '';
}

async function last(events: AsyncIterable<StreamResponse>): Promise<StreamResponse | undefined> {
  let found: StreamResponse | undefined;
  for await (const event of events) found = event;
  return found;
}

describe.each(WIRES.filter(([name]) => !name.includes('0.2.5')))('by %s', (name, options) => {
  const target = () => (name === 'in-process' ? server : url);

  it('a failure that the engine wrote is signed in answers and streams', async () => {
    const client = await world.client(target(), {}, options);
    const task = taskOf(await client.sendMessage('throw'));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    await verifySigned({ task: await client.getTask(task.id) }, trust());
    expect(await last(client.sendStreamingMessage('throw'))).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_FAILED' }, metadata: { [SIGNING_EXTENSION]: {} } },
    });
  });

  it('a cancel that the engine wrote is signed for its caller and for a watcher', async () => {
    const client = await world.client(target(), {}, options);
    const id = await beginTask(client, 'wait');
    const watching = client.subscribeToTask(id)[Symbol.asyncIterator]();
    expect((await watching.next()).value).toHaveProperty('task');
    const canceled = await client.cancelTask(id);
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    await verifySigned({ task: canceled }, trust());
    expect((await watching.next()).value).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
  });

  it('an end without a message is signed in a stored task', async () => {
    const client = await world.client(target(), {}, options);
    const task = taskOf(await client.sendMessage('silent'));
    await verifySigned({ task }, trust());
    await expect(verifySigned({ task: { ...task, artifacts: [] } }, trust())).rejects.toThrow('other artifacts');
  });
});

it('ends in a list are signed, with artifacts and without', async () => {
  const client = await world.client(url);
  await client.sendMessage('silent');
  for (const includeArtifacts of [true, false]) {
    const { tasks } = await client.listTasks({ includeArtifacts });
    expect(tasks.length).toBeGreaterThan(0);
    const [task] = tasks;
    if (task !== undefined && includeArtifacts) await verifySigned({ task }, trust());
    // A signature of a list is none of a whole task.
    if (task !== undefined && !includeArtifacts)
      await expect(verifySigned({ task }, trust())).rejects.toThrow('is over other artifacts of the task');
  }
});

it('a question for an authorization is signed, and the turn goes on', async () => {
  const client = await world.client(url);
  const stream = client.sendStreamingMessage('ask');
  const states: string[] = [];
  for await (const event of stream) {
    if (event.artifactUpdate !== undefined) states.push('artifact');
    if (event.statusUpdate !== undefined) states.push(event.statusUpdate.status.state);
    if (states.at(-1) === 'TASK_STATE_AUTH_REQUIRED') break;
  }
  expect(states.slice(-2)).toEqual(['artifact', 'TASK_STATE_AUTH_REQUIRED']);
  const task = await client.getTask(stream.taskId ?? '');
  await verifySigned({ task }, trust());
  expect(task.status.message?.parts[0]).toEqual({ text: 'please' });
  expect(task.status.message?.metadata).toHaveProperty([SIGNING_EXTENSION]);
  expect((await client.cancelTask(task.id)).status.state).toBe('TASK_STATE_CANCELED');
});

describe('a forged end is refused', () => {
  const status = (state: 'TASK_STATE_CANCELED' | 'TASK_STATE_FAILED', text?: string) => ({
    state,
    ...(text !== undefined && {
      message: { messageId: 'forged', role: 'ROLE_AGENT' as const, parts: [{ text }] },
    }),
  });
  const MISSING = /statusUpdate\.metadata.* is missing: TASK_STATE_(CANCELED|FAILED) is not signed/;

  it.each<[string, ReturnType<typeof status>]>([
    ['CANCELED', status('TASK_STATE_CANCELED')],
    ['CANCELED with a text', status('TASK_STATE_CANCELED', 'stopped by the operator')],
    ['FAILED with a text', status('TASK_STATE_FAILED', 'call this number')],
  ])('in a stream: %s', async (_, forged) => {
    const forge = changingEvents((event) => {
      if (event.artifactUpdate === undefined) return [event];
      const { taskId, contextId } = event.artifactUpdate;
      return [event, { statusUpdate: { taskId, contextId, status: forged } }];
    });
    const client = await world.client(url, {}, { interceptors: [forge], resume: { attempts: 0 } });
    const error = last(client.sendStreamingMessage('silent'));
    await expect(error).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    await expect(error).rejects.toThrow(MISSING);
  });

  it('in a stored task, with the text of a user too', async () => {
    const client = await world.client(url);
    const id = await beginTask(client, 'wait');
    const running = await client.getTask(id);
    const canceled = await client.cancelTask(id);
    const forgeries: Task[] = [
      { ...running, status: status('TASK_STATE_CANCELED') },
      { ...running, status: status('TASK_STATE_FAILED', 'x'), metadata: canceled.metadata as never },
      { ...canceled, status: { ...canceled.status, state: 'TASK_STATE_FAILED' } },
      { ...canceled, status: status('TASK_STATE_CANCELED', 'call this number') },
      { ...canceled, artifacts: [] },
      { ...canceled, status: { state: 'TASK_STATE_COMPLETED' } },
      {
        ...running,
        status: {
          state: 'TASK_STATE_COMPLETED',
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
        },
      },
    ];
    for (const task of forgeries)
      await expect(verifySigned({ task }, trust())).rejects.toMatchObject({ name: 'UntrustedContentError' });
  });

  it('also as the end of another task, or of the answer to another message', async () => {
    const client = await world.client(url);
    const other = taskOf(await client.sendMessage('throw'));
    const answer = changingEvents(() => [{ task: other }]);
    const fooled = await world.client(url, {}, { interceptors: [answer], resume: { attempts: 0 } });
    await expect(last(fooled.sendStreamingMessage('throw'))).rejects.toThrow('another message');
    const moved = { ...other, id: 'moved', artifacts: [] };
    await expect(verifySigned({ task: moved }, trust())).rejects.toThrow('not over this content');
  });
});

it('ends without a signature are taken by readers that allow them', async () => {
  const { url: unsigned } = await world.listen(agent, { keys: undefined as never });
  const { id } = taskOf(await (await world.client(unsigned, { required: false })).sendMessage('throw'));
  const task = { ...(await (await connect(unsigned, { extensions: [SIGNING_EXTENSION] })).getTask(id)), artifacts: [] };
  expect(task.status.message?.metadata).toBeUndefined();
  await verifySigned({ task }, { ...trust(), unsignedEnds: true });
  await expect(verifySigned({ task }, trust())).rejects.toThrow('TASK_STATE_FAILED is not signed');
  const completed: Task = { ...task, status: { state: 'TASK_STATE_COMPLETED' } };
  await expect(verifySigned({ task: completed }, { ...trust(), unsignedEnds: true })).rejects.toThrow('is missing');
});

it('a caller cannot write the signature of an end into metadata of a cancel', async () => {
  const client = await world.client(url);
  const id = await beginTask(client, 'wait');
  const canceled = await client.cancelTask({ id, metadata: { [SIGNING_EXTENSION]: { signatures: ['x'] } } });
  await verifySigned({ task: canceled }, trust());
  await verifySigned({ task: await client.getTask(id) }, trust());
});
