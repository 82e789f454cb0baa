import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentExecutor, ProtocolVersionName } from '../../packages/parley/src/exports/server.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Asks for more until it hears that it is done. */
const asking: AgentExecutor = {
  async execute({ text }, events) {
    if (text === 'wait') {
      await events.working('at it');
      return new Promise(() => {});
    }
    await events.artifact({ data: [text] }, { name: 'said' });
    if (text === 'done') return events.complete('good');
    return events.inputRequired('what else?');
  },
};

async function client(version: ProtocolVersionName, binding: string) {
  const server = createA2AServer({ agent: asking, versions: [version], limits: { cancelGraceMs: 10 } });
  closers.push(() => server.close({ graceMs: 100 }));
  const { url } = await server.listen(0);
  return connect(url, { binding });
}

const WAYS = (['0.3', '0.2.5'] as const).flatMap((version) =>
  ['JSONRPC', 'HTTP+JSON'].map((binding) => ({ version, binding })),
);

describe.each(WAYS)('a client of an agent that knows $version alone, over $binding', ({ version, binding }) => {
  it('talks to it in the shapes of 1.0', async () => {
    const agent = await client(version, binding);
    const first = await agent.sendMessage('hello');
    expect(first).toMatchObject({
      task: {
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: { role: 'ROLE_AGENT', parts: [{ text: 'what else?' }] },
        },
        artifacts: [{ name: 'said', parts: [{ data: ['hello'] }] }],
      },
    });
    const taskId = 'task' in first ? first.task.id : '';
    const second = await agent.sendMessage({ message: { taskId, parts: [{ text: 'done' }] } });
    expect(second).toMatchObject({ task: { id: taskId, status: { state: 'TASK_STATE_COMPLETED' } } });
    await expect(agent.cancelTask(taskId)).rejects.toMatchObject({ code: 'TASK_NOT_CANCELABLE' });
    expect(await agent.getTask(taskId)).toMatchObject({ history: [{ parts: [{ text: 'hello' }] }, {}, {}] });
  });

  it('follows a stream, cancels, and gets the errors', async () => {
    const agent = await client(version, binding);
    const states: string[] = [];
    let id = '';
    for await (const event of agent.sendStreamingMessage('wait')) {
      if ('task' in event) id = event.task.id;
      if ('statusUpdate' in event) states.push(event.statusUpdate.status.state);
      if (states.length === 1 && states[0] === 'TASK_STATE_WORKING') await agent.cancelTask(id);
    }
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_CANCELED']);
    await expect(agent.getTask('nobody')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(agent.listTasks()).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });
});
