import { connect, textOf } from 'parley-a2a';
import { AGENT_CALLS_EXTENSION } from 'parley-a2a/agent-calls';
import { describe, expect, it } from 'vitest';
import { Agents, executor, taskOf } from './world.js';

/** An agent that forwards its message to another agent, and answers with the text of its answer. */
const delegateTo = (url: () => string) =>
  executor(async (context, events) => {
    const answer = await context.callAgent(url(), context.text);
    await events.artifact(textOf(answer.task !== undefined ? answer.task : answer.message));
    await events.complete();
  });

const echo = executor(async ({ text }, events) => {
  await events.artifact(`echo ${text}`);
  await events.complete();
});

describe('a call of another agent', () => {
  it('gives its task', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(echo);
    const { client } = await agents.listen(delegateTo(() => callee.url));
    const task = taskOf(await client.ask('hello'));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task)).toBe('echo hello');
  });

  it('gives a direct message', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_, events) => events.message('at once'), { replies: 'either' }));
    const { client } = await agents.listen(delegateTo(() => callee.url));
    expect(textOf(taskOf(await client.ask('hello')))).toBe('at once');
  });

  it('calls an agent without streaming', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(echo, { streaming: false });
    const { client } = await agents.listen(delegateTo(() => callee.url));
    expect(textOf(taskOf(await client.ask('hello')))).toBe('echo hello');
  });

  it('calls a server object of the process, and a card', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(echo);
    const card = (await connect(callee.url)).card;
    const { client } = await agents.listen(
      executor(async (context, events) => {
        const local = await context.callAgent(callee.server, 'local');
        const known = await context.callAgent(card, 'card');
        await events.artifact([taskOf(local), taskOf(known)].map(textOf).join(', '));
        await events.complete();
      }),
    );
    expect(textOf(taskOf(await client.ask('hello')))).toBe('echo local, echo card');
  });

  it('shows events as they come, and then the answer', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(
      executor(async (_, events) => {
        const id = await events.artifact('a');
        await events.append(id, 'b');
        await events.complete();
      }),
    );
    const seen: string[] = [];
    const { client } = await agents.listen(
      executor(async (context, events) => {
        const call = context.callAgent(callee.url, 'go');
        for await (const event of call) seen.push(Object.keys(event)[0] ?? '');
        await events.artifact(textOf(taskOf(await call)));
        await events.complete(call.taskId);
      }),
    );
    const task = taskOf(await client.ask('hello'));
    expect(textOf(task)).toBe('ab');
    expect(seen).toContain('artifactUpdate');
    expect(textOf(task.status.message ?? { messageId: '', role: 'ROLE_AGENT', parts: [] })).toMatch(/^[\w-]{36}$/);
  });

  it('tells what to configure, on a server without the option', async () => {
    await using agents = new Agents();
    let thrown: unknown;
    const { client } = await agents.listen(
      executor(async (context, events) => {
        try {
          await context.callAgent('https://agent.example.com', 'hello');
        } catch (error) {
          thrown = error;
        }
        await events.complete();
      }),
      { calls: undefined },
    );
    await client.ask('hello');
    expect(thrown).toMatchObject({ name: 'OptionsError', message: expect.stringContaining('calls') });
  });

  it('hands on traceparent, references and metadata, and no credentials', async () => {
    await using agents = new Agents();
    const told: unknown[] = [];
    const callee = await agents.listen(
      executor(async (context, events) => {
        told.push(context.metadata, context.message.referenceTaskIds, context.user);
        await events.complete();
      }),
    );
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { client } = await agents.listen(
      executor(async (context, events) => {
        await context.callAgent(callee.url, context.message, { referenceTaskIds: ['t1'], metadata: { tone: 'short' } });
        await events.complete();
      }),
    );
    await client.ask('hello', { traceparent, headers: { authorization: 'Bearer secret' } });
    const [metadata, references, user] = told as [Record<string, { depth: number }>, string[], unknown];
    expect(metadata).toMatchObject({ tone: 'short', [AGENT_CALLS_EXTENSION]: { depth: 1 } });
    expect(references).toEqual(['t1']);
    expect(user).toBeUndefined();
  });
});
