import { type AgentExecutor, textOf } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { StubAgent } from '../client/stub-agent.js';
import { Agents, executor, taskOf } from './world.js';

/** An agent that works until it is told to stop. */
function endless() {
  const began = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let isBegun = false;
  const agent: AgentExecutor = {
    async execute({ signal }, events) {
      await events.working('on it');
      isBegun = true;
      began.resolve();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended.resolve();
    },
  };
  return { agent, began: began.promise, ended: ended.promise, isBegun: () => isBegun };
}

/** An agent that calls another agent, and answers with the fault of the call. */
const callTo = (url: () => string, options: object = {}) =>
  executor(async (context, events) => {
    const said = await context.callAgent(url(), context.text, options).then(
      (answer) => textOf(answer.task !== undefined ? answer.task : answer.message),
      (error: { fault?: string; name: string }) => {
        if (context.signal.aborted) throw error;
        return `fault: ${error.fault ?? error.name}`;
      },
    );
    await events.artifact(said);
    await events.complete();
  });

describe('the end of a turn', () => {
  it.each([true, false])('a cancel reaches the callee (streaming: %s)', async (streaming) => {
    await using agents = new Agents();
    const work = endless();
    const callee = await agents.listen(work.agent, { streaming });
    const { client } = await agents.listen(callTo(() => callee.url));
    const stream = client.sendStreamingMessage('go');
    let id: string | undefined;
    for await (const event of stream) {
      if (event.task !== undefined) id = event.task.id;
      break;
    }
    await work.began;
    expect((await client.cancelTask(id ?? '')).status.state).toBe('TASK_STATE_CANCELED');
    await work.ended;
    const [task] = (await callee.client.listTasks()).tasks;
    expect((await callee.client.waitFor(task?.id ?? '')).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('the deadline of a turn reaches the callee', async () => {
    await using agents = new Agents();
    const work = endless();
    const callee = await agents.listen(work.agent);
    const { client } = await agents.listen(
      callTo(() => callee.url),
      { limits: { turnDeadlineMs: 400 } },
    );
    // A machine that stands still uses up the time of a turn before its call, so the turn is asked for again.
    do expect(taskOf(await client.ask('go')).status.state).toBe('TASK_STATE_FAILED');
    while (!work.isBegun());
    await work.ended;
  });

  it('the time limit of a call ends the callee, and not the turn', async () => {
    await using agents = new Agents();
    const work = endless();
    const callee = await agents.listen(work.agent);
    const { client } = await agents.listen(callTo(() => callee.url, { timeoutMs: 300 }));
    // A machine that stands still uses up the time of a call before its message, so it is made again.
    do expect(textOf(taskOf(await client.ask('go')))).toBe('fault: time');
    while (!work.isBegun());
    await work.ended;
  });
});

describe('a callee that misbehaves', () => {
  it('is not there', async () => {
    await using agents = new Agents();
    const { client } = await agents.listen(
      callTo(() => 'http://127.0.0.1:1'),
      {},
      { resume: { attempts: 0 } },
    );
    expect(textOf(taskOf(await client.ask('go')))).toMatch(/^fault: \w+Error$/);
  });

  it('never answers', async () => {
    await using agents = new Agents();
    await using silent = await StubAgent.start(() => () => {});
    const { client } = await agents.listen(callTo(() => silent.url, { timeoutMs: 300 }));
    expect(textOf(taskOf(await client.ask('go')))).toBe('fault: time');
  });

  it('sends more than a call may bring', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(
      executor(async (context, events) => {
        const id = await events.artifact('x'.repeat(10_000));
        while (!context.signal.aborted) await events.append(id, 'x'.repeat(10_000));
      }),
    );
    const { client } = await agents.listen(
      callTo(() => callee.url),
      {},
      { maxBytes: 200_000 },
    );
    expect(textOf(taskOf(await client.ask('go')))).toBe('fault: size');
    const [task] = (await callee.client.listTasks()).tasks;
    expect((await callee.client.waitFor(task?.id ?? '')).status.state).toBe('TASK_STATE_CANCELED');
  });
});
