import type { Task } from 'parley-a2a';
import { MemoryStorage } from 'parley-a2a/storage';
import {
  answerApprovals,
  defineTool,
  jsonSchema,
  ToolRegistry,
  toolAgent,
  toolApprovals,
  toolCalls,
  toolEventsOf,
} from 'parley-a2a/tools';
import { messageSigning, SIGNING_EXTENSION, verifiedSigners } from 'parley-a2a-signing';
import { crashAndResume } from 'parley-a2a-testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { changingEvents } from './wire.js';
import { executor, keyPair, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
beforeAll(async () => {
  world = await SignedWorld.make();
});
afterAll(() => world[Symbol.asyncDispose]());

it('a flush waits for the signatures of all events before it, so that a checkpoint may follow', async () => {
  const agent = executor(
    async (context, events) => {
      if (context.checkpoint === undefined) {
        events.artifact('one', { artifactId: 'a' });
        events.append('a', 'two');
        await events.flush();
        await context.saveCheckpoint(2);
      }
      events.append('a', 'three');
      events.complete();
    },
    { resumable: true },
  );
  const pair = await keyPair('agent-1');
  const signing = await messageSigning({ audience: 'x', trust: [], keys: [pair.own] });
  const run = await crashAndResume(agent, 'x', { signing, compare: false });
  expect(run.task.artifacts?.[0]?.parts).toEqual([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
});

it('a message on a task completes it, also in a turn that began as a draft', async () => {
  const agent = executor(
    async (_, events) => {
      await events.working();
      await events.message('done');
    },
    { replies: 'either' },
  );
  const { url } = await world.listen(agent);
  const { status } = taskOf(await (await world.client(url)).sendMessage('x'));
  expect([status.state, status.message?.parts]).toEqual(['TASK_STATE_COMPLETED', [{ text: 'done' }]]);
});

it('a direct message stays one after a flush', async () => {
  const agent = executor(
    async (_, events) => {
      await events.flush();
      await events.message('direct');
    },
    { replies: 'either' },
  );
  const { url } = await world.listen(agent);
  expect(await (await world.client(url)).sendMessage('x')).toHaveProperty('message.parts', [{ text: 'direct' }]);
});

it('events of a raw form are signed, also a whole task', async () => {
  const agent = executor(async (context, events) => {
    await events.artifact('replaced');
    await events.publish({
      task: {
        id: context.taskId,
        contextId: context.contextId,
        status: {
          state: 'TASK_STATE_WORKING',
          message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'w' }] } as never,
        },
        artifacts: [{ artifactId: 'a', parts: [{ text: 'one' }] }],
      },
    });
    await events.publish({ artifactUpdate: { artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true } });
    await events.publish({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });
  const { url } = await world.listen(agent);
  const client = await world.client(url);
  const { id, artifacts } = taskOf(await client.sendMessage('x'));
  expect(artifacts?.map(({ parts }) => parts)).toEqual([[{ text: 'one' }, { text: 'two' }]]);
  expect((await client.getTask(id)).status.state).toBe('TASK_STATE_COMPLETED');
});

it('cancel() of an agent publishes into the signed turn', async () => {
  const agent = executor(
    async (context, events) => {
      await events.artifact('begun');
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    },
    { cancel: async (_, events) => events.cancel('stopped') },
  );
  const { url } = await world.listen(agent);
  const client = await world.client(url);
  const stream = client.sendStreamingMessage('x');
  for await (const event of stream) if (event.artifactUpdate !== undefined) break;
  const task = await client.cancelTask(stream.taskId ?? '');
  expect(task.status.message?.parts).toEqual([{ text: 'stopped' }]);
  expect(task.status.message?.metadata).toHaveProperty([SIGNING_EXTENSION]);
});

it.each([
  ['a text without a canonical form', { text: '\ud800' }],
  ['no part', undefined],
  [
    'a part that throws when it is read',
    Object.defineProperty({}, 'text', {
      enumerable: true,
      get: () => {
        throw new Error('secret');
      },
    }),
  ],
])('%s fails the task, and the caller learns no more', async (_, part) => {
  const agent = executor(async (_context, events) => {
    await events.artifact(part as never);
    await events.complete();
  });
  const { url } = await world.listen(agent);
  const { status } = taskOf(await (await world.client(url)).sendMessage('x'));
  expect([status.state, status.message?.parts]).toEqual([
    'TASK_STATE_FAILED',
    [{ text: 'The agent gave an invalid response.' }],
  ]);
});

it('an agent that publishes without end fails its task', async () => {
  const agent = executor(async (_, events) => {
    for (let at = 0; at < 20_000; at += 1) events.working();
    await events.complete();
  });
  const { url } = await world.listen(agent);
  const { status } = taskOf(await (await world.client(url)).sendMessage('x'));
  expect(status.message?.parts).toEqual([{ text: 'The agent published faster than its events can be signed.' }]);
});

it('a thrown error fails the task after the events before it', async () => {
  const agent = executor((_, events) => {
    events.artifact('before', { artifactId: 'a' });
    throw new Error('secret');
  });
  const { url } = await world.listen(agent);
  const task = taskOf(await (await world.client(url)).sendMessage('x'));
  expect([task.status.state, task.artifacts?.length]).toEqual(['TASK_STATE_FAILED', 1]);
});

it('the agent of a follow-up message knows its signers, and the chain of its artifact goes on', async () => {
  const other = await keyPair('other-1');
  const agent = executor(async (context, events) => {
    const signer = verifiedSigners(context)
      .map(({ id }) => id)
      .join();
    if (context.history.length === 0) await events.artifact(signer, { artifactId: 'a', name: 'n', metadata: { x: 1 } });
    else await events.append('a', signer);
    await events.inputRequired('more');
  });
  const storage = new MemoryStorage({ clock: systemClock });
  const trust = [
    { id: 'shop', keys: [world.caller.shown] },
    { id: 'other', keys: [other.shown] },
  ];
  const { url } = await world.listen(agent, { trust }, { storage });
  const first = taskOf(await (await world.client(url)).sendMessage('x'));
  const client = await world.client(url, { keys: [other.own] });
  const message = { parts: [{ text: 'y' }], taskId: first.id, contextId: first.contextId ?? '' };
  const events = [];
  for await (const event of client.sendStreamingMessage({ message })) events.push(event);
  expect((await client.getTask(first.id)).artifacts?.[0]?.parts).toEqual([{ text: 'shop' }, { text: 'other' }]);
  const dropped = await world.client(
    url,
    {},
    { interceptors: [changingEvents((event) => (event.task !== undefined ? [] : [event]))] },
  );
  const again = dropped.sendStreamingMessage({ message });
  await expect(
    (async () => {
      for await (const _ of again);
    })(),
  ).rejects.toThrow('begins without its task');
});

it('a question for an authorization comes after the events before it', async () => {
  const agent = executor(async (context, events) => {
    events.artifact('before');
    await context.requestAuthorization({ message: 'please' });
  });
  const { url } = await world.listen(agent);
  const client = await world.client(url, { required: false });
  const seen: string[] = [];
  for await (const event of client.sendStreamingMessage('x')) {
    if (event.artifactUpdate !== undefined) seen.push('artifact');
    if (event.statusUpdate !== undefined) seen.push(event.statusUpdate.status.state);
    if (seen.at(-1) === 'TASK_STATE_AUTH_REQUIRED') break;
  }
  expect(seen).toEqual(['TASK_STATE_WORKING', 'artifact', 'TASK_STATE_AUTH_REQUIRED']);
});

it('calls of tools end with their task under signatures, and a question lists those that wait', async () => {
  const text = jsonSchema<string>({ type: 'string' });
  const pay = defineTool({ name: 'pay', input: text, needsApproval: true, run: (what) => `paid ${what}` });
  const hold = defineTool({ name: 'hold', input: text, run: () => new Promise<never>(() => {}) });
  const agent = toolAgent(new ToolRegistry([pay, hold]), async (run, { events }) => {
    const paid = await run.call(pay, 'Dune').catch(() => undefined);
    if (run.text === 'hold') await run.call(hold, 'x');
    if (paid === undefined) await events.inputRequired('In which color?');
    else await events.complete(`${paid}`);
  });
  const { url } = await world.listen(agent);
  // The engine ends a task that waits, and its end is signed when it is sent.
  const client = await world.client(url);
  const states = (task: Task) => toolCalls(task).map(({ tool, state }) => `${tool} ${state}`);

  const asked = taskOf(await client.ask('go'));
  expect([states(asked), toolApprovals(asked).length]).toEqual([['pay requested'], 1]);
  const done = taskOf(await client.ask({ message: answerApprovals(asked, 'approve') }));
  expect([done.status.state, states(done)]).toEqual(['TASK_STATE_COMPLETED', ['pay succeeded']]);

  const waits = taskOf(await client.ask('go'));
  expect(states(await client.cancelTask(waits.id))).toEqual(['pay canceled']);

  for await (const event of client.sendStreamingMessage('hold')) {
    const [told] = toolEventsOf(event);
    if (told?.call.tool !== 'hold' || told.call.state !== 'running') continue;
    const task = await client.cancelTask(told.taskId ?? '');
    expect([task.status.state, states(task)]).toEqual(['TASK_STATE_CANCELED', ['pay canceled', 'hold canceled']]);
    expect(JSON.stringify(task.artifacts)).toContain('"state":"canceled"');
  }
});
