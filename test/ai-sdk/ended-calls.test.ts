import { isStepCount, jsonSchema, type ToolSet, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { type AgentExecutor, connect, type Task } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import {
  answerApprovals,
  defineTool,
  jsonSchema as schema,
  ToolRegistry,
  toolApprovals,
  toolCalls,
} from 'parley-a2a/tools';
import { streamTextAgent } from 'parley-a2a-ai-sdk';
import { expect, it, onTestFinished } from 'vitest';
import { finish, type ModelPart, step, text, toolCall } from './model-parts.js';

type Steps = readonly Awaited<ReturnType<MockLanguageModelV4['doStream']>>[];

async function serveAgent(agent: AgentExecutor) {
  const server = createA2AServer({ agent, logger: { debug() {}, info() {}, warn() {}, error() {} } });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const client = await connect((await server.listen(0)).url);
  const send = async (message: Parameters<typeof client.ask>[0]): Promise<Task> => {
    const answer = await client.ask(message);
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
  return { client, send };
}

const createAgent = (doStream: Steps, tools: ToolSet | ToolRegistry) =>
  streamTextAgent({ model: new MockLanguageModelV4({ doStream: [...doStream] }), stopWhen: isStepCount(5), tools });

/** The last state of each call, as the data of the task have it, and as the library reads it. */
function states(task: Task): readonly (readonly string[])[] {
  const parts = task.artifacts?.find(({ artifactId }) => artifactId === 'tool-calls')?.parts ?? [];
  const recorded = new Map(
    parts.map((part) => {
      const { id, state } = (part as { data: { toolCall: Record<string, string> } }).data.toolCall;
      return [id, `${id} ${state}`] as const;
    }),
  );
  return [[...recorded.values()], toolCalls(task).map(({ id, state }) => `${id} ${state}`)];
}

it.each(['the AI SDK', 'a registry'])(
  'a call that runs while its task is canceled ends as canceled: %s',
  async (of) => {
    const began = Promise.withResolvers<void>();
    const execute = () => {
      began.resolve();
      return new Promise<string>(() => {});
    };
    const tools: ToolSet | ToolRegistry =
      of === 'a registry'
        ? new ToolRegistry([defineTool({ name: 'wait', input: schema({ type: 'object' }), run: execute })])
        : { wait: tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute }) };
    const { client } = await serveAgent(createAgent([step(toolCall('c1', 'wait', {}), finish('tool-calls'))], tools));
    const { task } = (await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } })) as {
      task: Task;
    };
    await began.promise;
    const canceled = await client.cancelTask(task.id);
    expect([canceled.status.state, states(canceled)]).toEqual([
      'TASK_STATE_CANCELED',
      [['c1 canceled'], ['c1 canceled']],
    ]);
  },
);

it.each([
  ['an error of the model', [{ type: 'error', error: new Error('no more') } as ModelPart]],
  ['a call without code', [finish('tool-calls')]],
])('a call that runs while its task fails ends as canceled: %s', async (_, end) => {
  const code = { ask: tool({ inputSchema: jsonSchema({ type: 'object' }), outputSchema: jsonSchema({}) }) };
  const { send } = await serveAgent(createAgent([step(toolCall('c1', 'ask', {}), ...end)], code));
  const failed = await send('go');
  expect([failed.status.state, states(failed)]).toEqual(['TASK_STATE_FAILED', [['c1 canceled'], ['c1 canceled']]]);
});

it('a call that runs beside one with too many arguments for a question ends as canceled', async () => {
  const pay = tool({ inputSchema: jsonSchema({ type: 'object' }), needsApproval: true, execute: () => 'paid' });
  const calls = [toolCall('c1', 'pay', {}), toolCall('c2', 'pay', { text: 'x'.repeat(300_000) })];
  const { send } = await serveAgent(createAgent([step(calls, finish('tool-calls'))], { pay }));
  const failed = await send('go');
  expect([failed.status.state, states(failed)]).toEqual([
    'TASK_STATE_FAILED',
    [
      ['c1 canceled', 'c2 canceled'],
      ['c1 canceled', 'c2 canceled'],
    ],
  ]);
});

it('a call that waits is no longer asked after a cancel, and the next task tells the model of its end', async () => {
  const pay = tool({ inputSchema: jsonSchema({ type: 'object' }), needsApproval: true, execute: () => 'paid' });
  const steps = [step(toolCall('c1', 'pay', {}), finish('tool-calls')), step(text(['Hello.']), finish())];
  const { client, send } = await serveAgent(createAgent(steps, { pay }));
  const asked = await send('go');
  const canceled = await client.cancelTask(asked.id);
  expect([toolApprovals(canceled), toolCalls(canceled)]).toMatchObject([[], [{ id: 'c1', state: 'canceled' }]]);
  await expect(send({ message: answerApprovals(asked, 'approve') })).rejects.toThrow();
  const next = await send({ message: { contextId: asked.contextId ?? '', parts: [{ text: 'Hello' }] } });
  expect(next.status.state).toBe('TASK_STATE_COMPLETED');
});

it('a yes decides no call that the last question does not list', async () => {
  const paid: unknown[] = [];
  const pay = tool({
    inputSchema: jsonSchema({ type: 'object' }),
    needsApproval: true,
    execute: (input) => paid.push(input),
  });
  const steps = [step(toolCall('c1', 'pay', {}), finish('tool-calls')), step(text(['Nothing paid.']), finish())];
  const agent = createAgent(steps, { pay });
  const { send } = await serveAgent({
    ...agent,
    execute: (context, events) =>
      context.text === 'more' ? events.inputRequired('May I tell you more?') : agent.execute(context, events),
  });
  const asked = await send('go');
  const other = await send({ message: { taskId: asked.id, parts: [{ text: 'more' }] } });
  const yes = await send({ message: { taskId: other.id, parts: [{ text: 'yes' }] } });
  expect([paid, yes.status.state, toolCalls(yes)]).toMatchObject([
    [],
    'TASK_STATE_COMPLETED',
    [{ id: 'c1', state: 'refused' }],
  ]);
});
