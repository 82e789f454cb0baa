import { type AgentExecutor, type StreamResponse, textOf } from 'parley-a2a';
import { AGENT_CALLS_EXTENSION } from 'parley-a2a/agent-calls';
import { MemoryStorage, systemClock } from 'parley-a2a/server';
import { describe, expect, it } from 'vitest';
import { Agents, executor, taskOf } from './world.js';

/** An agent that maps the task of another agent into its own. */
const relayTo = (url: () => string, more: Partial<AgentExecutor> = {}) =>
  executor(async (context, events) => {
    const answer = await context.callAgent(url(), context.message, { into: events });
    if (answer.task !== undefined && answer.task.status.state === 'TASK_STATE_COMPLETED') await events.complete();
  }, more);

const textsOf = (events: readonly StreamResponse[]) =>
  events.flatMap((event) => event.statusUpdate?.status.message || []).map(textOf);

describe('the events of a callee in the task of its caller', () => {
  it('are artifacts with ids of their own, and updates', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(
      executor(async (_, events) => {
        await events.working('on it');
        await events.artifact('a', { artifactId: 'mine', name: 'result', metadata: { tone: 'short' } });
        await events.append('mine', 'b', { lastChunk: true });
        await events.complete('done');
      }),
      { name: 'Callee' },
    );
    const { client } = await agents.listen(relayTo(() => callee.url));
    const seen: StreamResponse[] = [];
    for await (const event of client.sendStreamingMessage('go')) seen.push(event);
    expect(textsOf(seen)).toEqual(['on it', 'done']);
    const task = await client.getTask((await client.listTasks({ includeArtifacts: true })).tasks[0]?.id ?? '');
    const [artifact] = task.artifacts ?? [];
    expect(artifact).toMatchObject({
      name: 'result',
      metadata: { tone: 'short', [AGENT_CALLS_EXTENSION]: { agent: 'Callee', artifactId: 'mine' } },
    });
    expect(artifact?.artifactId).toMatch(/^call-[0-9a-f]{16}$/);
    expect(textOf(task)).toBe('ab');
  });

  it('a direct message is an artifact', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_, events) => events.message('at once'), { replies: 'either' }));
    const { client } = await agents.listen(
      executor(async (context, events) => {
        await context.callAgent(callee.url, 'go', { into: events });
        await events.complete();
      }),
    );
    expect(textOf(taskOf(await client.ask('go')))).toBe('at once');
  });

  it('a question goes to the caller, and the answer to the task of the callee', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(
      executor(async (context, events) => {
        if (context.history.length === 0) return events.inputRequired('Which color?');
        await events.artifact(`a ${context.text} one`);
        await events.complete();
      }),
    );
    const { client } = await agents.listen(relayTo(() => callee.url));
    const asked = taskOf(await client.ask('a car'));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message && textOf(asked.status.message)).toBe('Which color?');
    const done = taskOf(await client.ask({ message: { parts: [{ text: 'red' }], taskId: asked.id } }));
    expect(textOf(done)).toBe('a red one');
    expect((await callee.client.listTasks()).tasks).toHaveLength(1);
  });

  it('a login is asked for, and the call goes on', async () => {
    await using agents = new Agents();
    const go = Promise.withResolvers<void>();
    const callee = await agents.listen(
      executor(async (_, events) => {
        await events.authRequired('Log in at example.com');
        await go.promise;
        await events.working('thank you');
        await events.complete();
      }),
    );
    const { client } = await agents.listen(relayTo(() => callee.url));
    const texts: string[] = [];
    for await (const event of client.sendStreamingMessage('go')) {
      texts.push(...textsOf([event]));
      if (texts.includes('Log in at example.com')) go.resolve();
    }
    expect(texts).toEqual(['Log in at example.com', 'thank you']);
  });
});

describe('a callee that asks for a login', () => {
  it.each([true, false])(
    'ends a call that is awaited, and not the loop of one that is iterated (streams: %s)',
    async (streaming) => {
      await using agents = new Agents();
      const callee = await agents.listen(
        executor(async (context, events) => {
          await events.authRequired('Log in at example.com');
          if (context.text !== 'wait') await events.complete();
          await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }));
        }),
        { streaming },
      );
      const { client } = await agents.listen(
        executor(async (context, events) => {
          const awaited = await context.callAgent(callee.url, 'wait', { timeoutMs: 10_000 });
          const iterated = context.callAgent(callee.url, 'go on', { timeoutMs: 10_000 });
          for await (const _ of iterated);
          const states = [awaited, await iterated].map((answer) => taskOf(answer).status.state);
          await events.complete(states.join(' '));
        }),
      );
      const done = taskOf(await client.ask('go'));
      expect(done.status.message && textOf(done.status.message)).toBe('TASK_STATE_AUTH_REQUIRED TASK_STATE_COMPLETED');
    },
  );
});

describe('a turn that runs again', () => {
  it.each([true, false])('goes on with the task of the callee (into the task: %s)', async (into) => {
    await using agents = new Agents();
    const finish = Promise.withResolvers<void>();
    const callee = await agents.listen(
      executor(async (_, events) => {
        await events.artifact('half', { artifactId: 'a' });
        await finish.promise;
        await events.append('a', ' and half');
        await events.complete();
      }),
    );
    const storage = new MemoryStorage({ clock: systemClock });
    const begun = Promise.withResolvers<void>();
    const agent = (wait: boolean) =>
      executor(
        async (context, events) => {
          const call = context.callAgent(callee.url, `go ${context.attempt}`, into ? { into: events } : {});
          for await (const event of call) if (wait && event.artifactUpdate !== undefined) begun.resolve();
          await events.complete(textOf(taskOf(await call)));
        },
        { resumable: true },
      );
    const first = await agents.listen(agent(true), { storage });
    const taken: Promise<unknown> = first.client.sendMessage({
      message: 'go',
      configuration: { returnImmediately: true },
    });
    await taken;
    await begun.promise;
    await first.server.close({ graceMs: 0 });
    const second = await agents.listen(agent(false), { storage });
    // Turns that were left behind are taken over with the first request.
    const [task] = (await second.client.listTasks()).tasks;
    finish.resolve();
    const done = await second.client.waitFor(task?.id ?? '');
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.status.message && textOf(done.status.message)).toBe('half and half');
    if (into) expect(textOf(done)).toBe('half and half');
    const { tasks } = await callee.client.listTasks();
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED']);
  });

  it('names each call of a turn differently', async () => {
    await using agents = new Agents();
    const ids: string[] = [];
    const callee = await agents.listen(
      executor((context, events) => {
        ids.push(context.message.messageId);
        return events.complete();
      }),
    );
    const { client } = await agents.listen(
      executor(async (context, events) => {
        await context.callAgent(callee.url, 'one');
        await context.callAgent(callee.url, 'two');
        await context.callAgent(callee.url, 'three', { key: 'last' });
        await events.complete();
      }),
    );
    await client.ask('go');
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  });
});
