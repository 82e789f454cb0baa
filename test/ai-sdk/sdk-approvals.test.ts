import { isStepCount, jsonSchema, streamText, type ToolSet, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { connect, type Task, textOf } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { type AgentExecutor, MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';
import { answerApprovals, TOOLS_EXTENSION, type ToolDecision, toolApprovals, toolCalls } from 'parley-a2a/tools';
import {
  asksAgain,
  fromStreamText,
  type StreamTextAgentOptions,
  streamTextAgent,
  toModelMessages,
} from 'parley-a2a-ai-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { finish, step, text, toolCall } from './model-parts.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Steps = readonly Awaited<ReturnType<MockLanguageModelV4['doStream']>>[];

/** A real server with an agent. Two of them with one storage are two processes. */
async function serveAgent(agent: AgentExecutor, storage?: TaskStorage) {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const server = createA2AServer({ agent, logger, ...(storage && { storage }) });
  closers.push(() => server.close({ graceMs: 0 }));
  const client = await connect((await server.listen(0)).url);
  const send = async (message: Parameters<typeof client.ask>[0]): Promise<Task> => {
    const answer = await client.ask(message);
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
  const decide = (task: Task, decision: 'approve' | 'refuse' | readonly ToolDecision[]) =>
    send({ message: answerApprovals(task, decision) });
  return { client, send, decide };
}

/** A tool of the AI SDK that pays after an approval, and one that only looks. */
function shop() {
  const paid: unknown[] = [];
  const input = jsonSchema<{ euros: number }>({
    type: 'object',
    properties: { euros: { type: 'number' } },
    required: ['euros'],
  });
  const pay = tool({
    inputSchema: input,
    needsApproval: ({ euros }) => euros > 1,
    execute: ({ euros }) => {
      paid.push(euros);
      return { paid: euros };
    },
  });
  const look = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => 'seen' });
  return { paid, tools: { pay, look } satisfies ToolSet };
}

function createAgent(doStream: Steps, options: Partial<StreamTextAgentOptions> = {}) {
  const model = new MockLanguageModelV4({ doStream: [...doStream] });
  return { model, agent: streamTextAgent({ model, stopWhen: isStepCount(5), ...options }) };
}

const pays = (id: string, euros: number) => toolCall(id, 'pay', { euros });
const states = (task: Task) => toolCalls(task).map(({ id, state }) => `${id} ${state}`);
const waitingCalls = (task: Task) => toolApprovals(task).map(({ callId }) => callId);
const statusText = ({ status }: Task) =>
  textOf({ role: 'ROLE_AGENT', messageId: 'm', parts: status.message?.parts ?? [] });

describe('a tool of the AI SDK that needs an approval', () => {
  it('asks in the format of all tools, and runs in another process after a yes', async () => {
    const storage = new MemoryStorage({ clock: systemClock });
    const { paid, tools } = shop();
    const calls = [toolCall('c1', 'look', {}), pays('c2', 50)];
    const first = createAgent([step(text(['One moment.']), calls, finish('tool-calls'))], { tools });
    const one = await serveAgent(first.agent, storage);
    const asked = await one.send('Pay it');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message?.extensions).toEqual([TOOLS_EXTENSION]);
    expect(statusText(asked)).toContain('c2: pay {"euros":50}');
    expect(toolApprovals(asked)).toMatchObject([{ callId: 'c2', tool: 'pay', input: { euros: 50 } }]);
    expect([states(asked), paid]).toEqual([['c1 succeeded', 'c2 requested'], []]);
    for (const close of closers.splice(0)) await close();

    const second = createAgent([step(text(['Paid.']), finish())], { tools });
    const two = await serveAgent(second.agent, storage);
    const done = await two.decide(asked, 'approve');
    expect([done.status.state, states(done), paid]).toEqual([
      'TASK_STATE_COMPLETED',
      ['c1 succeeded', 'c2 succeeded'],
      [50],
    ]);
    expect(toolCalls(done)[1]).toMatchObject({ output: { paid: 50 } });
    expect(second.model.doStreamCalls[0]?.prompt).toMatchObject([
      { role: 'user', content: [{ text: 'Pay it' }] },
      { role: 'assistant', content: [{ text: 'One moment.' }, { toolCallId: 'c1' }, { toolCallId: 'c2' }] },
      { role: 'tool', content: [{ toolCallId: 'c1', output: { value: 'seen' } }, { toolCallId: 'c2' }] },
    ]);
    expect(JSON.stringify(second.model.doStreamCalls[0]?.prompt)).not.toContain('needs your approval');
  });

  it.each([
    ['no', 'The call was refused.'],
    ['What for?', 'Another message came instead of an approval.'],
  ])('does not run after the message %s, and the model learns the reason', async (message, reason) => {
    const { paid, tools } = shop();
    const { agent, model } = createAgent([step(pays('c1', 50), finish('tool-calls')), step(text(['Fine']), finish())], {
      tools,
    });
    const { send } = await serveAgent(agent);
    const asked = await send('Pay it');
    const done = await send({ message: { taskId: asked.id, parts: [{ text: message }] } });
    expect([done.status.state, states(done), paid]).toEqual(['TASK_STATE_COMPLETED', ['c1 refused'], []]);
    const prompt = model.doStreamCalls[1]?.prompt;
    expect(JSON.stringify(prompt)).toContain(reason);
    expect(prompt?.at(-1)?.role).toBe(message === 'no' ? 'tool' : 'user');
  });

  it('waits until all calls are answered, and runs each approved one once', async () => {
    const { paid, tools } = shop();
    const { agent, model } = createAgent(
      [step(pays('c1', 50), pays('c2', 60), pays('c3', 70), finish('tool-calls')), step(text(['Done']), finish())],
      { tools },
    );
    const { decide, send } = await serveAgent(agent);
    const asked = await send('Pay them');
    const half = await decide(asked, [
      { callId: 'c3', decision: 'approve' },
      { callId: 'c1', decision: 'refuse', reason: 'too dear' },
    ]);
    expect([half.status.state, waitingCalls(half), model.doStreamCalls.length, paid]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      ['c2'],
      1,
      [],
    ]);
    const stray = await send({
      message: { taskId: asked.id, parts: answerApprovals(asked, 'refuse').parts.slice(0, 1) },
    });
    expect([waitingCalls(stray), states(stray)]).toEqual([['c2'], ['c1 refused', 'c2 requested', 'c3 approved']]);
    const done = await decide(stray, 'approve');
    expect([states(done), paid]).toEqual([
      ['c1 refused', 'c2 succeeded', 'c3 succeeded'],
      [60, 70],
    ]);
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('too dear');
  });

  it('asks again for the calls of the next step, and a new prompt ends approvals that did not run', async () => {
    const { paid, tools } = shop();
    const { agent } = createAgent(
      [
        step(pays('c1', 50), finish('tool-calls')),
        step(pays('c2', 60), pays('c3', 70), finish('tool-calls')),
        step(text(['Stopped']), finish()),
      ],
      { tools },
    );
    const { decide, send } = await serveAgent(agent);
    const next = await decide(await send('Pay it'), 'approve');
    expect([waitingCalls(next), paid]).toEqual([['c2', 'c3'], [50]]);
    const half = await decide(next, [{ callId: 'c2', decision: 'approve' }]);
    const done = await send({ message: { taskId: half.id, parts: [{ text: 'Stop' }] } });
    expect([states(done), paid]).toEqual([['c1 succeeded', 'c2 refused', 'c3 refused'], [50]]);
  });

  it('is decided by the rule of the author, with a signature and a reason', async () => {
    const { paid, tools } = shop();
    const settings = {
      tools,
      toolApproval: {
        look: { type: 'user-approval', reason: 'It is dark' },
        pay: ({ euros }: { euros: number }) => (euros > 100 ? 'denied' : 'approved'),
      },
      experimental_toolApprovalSecret: 'pl4nted-s3cret-of-approvals',
    } as Partial<StreamTextAgentOptions>;
    const { agent } = createAgent(
      [
        step(pays('c1', 50), pays('c2', 500), toolCall('c3', 'look', {}), finish('tool-calls')),
        step(text(['Done']), finish()),
      ],
      settings,
    );
    const { decide, send } = await serveAgent(agent);
    const asked = await send('go');
    expect([statusText(asked), states(asked), paid]).toEqual([
      expect.stringContaining('It is dark'),
      ['c1 succeeded', 'c2 refused', 'c3 requested'],
      [50],
    ]);
    expect(states(await decide(asked, 'approve'))).toEqual(['c1 succeeded', 'c2 refused', 'c3 succeeded']);
  });

  it('works in an executor with its own call of the model', async () => {
    const { paid, tools } = shop();
    const model = new MockLanguageModelV4({
      doStream: [step(pays('c1', 50), pays('c2', 60), finish('tool-calls')), step(text(['Done']), finish())],
    });
    const { decide, send } = await serveAgent({
      async execute(context, events) {
        if (await asksAgain({ context, events })) return;
        const messages = await toModelMessages(context);
        await fromStreamText(streamText({ model, tools, messages, stopWhen: isStepCount(2) }), { context, events });
      },
    });
    const half = await decide(await send('Pay'), [{ callId: 'c1', decision: 'approve' }]);
    expect([waitingCalls(half), paid]).toEqual([['c2'], []]);
    expect([states(await decide(half, 'refuse')), paid]).toEqual([['c1 succeeded', 'c2 refused'], [50]]);
  });

  it('fails the task if it cannot be asked about', async () => {
    const { paid, tools } = shop();
    const big = toolCall('c1', 'pay', { euros: 50, note: 'x'.repeat(300_000) });
    for (const [steps, reason] of [
      [[step(big, finish('tool-calls'))], 'too many for an approval'],
      [[step(pays('c1', 50), pays('c1', 5_000), finish('tool-calls'))], 'the same id'],
      [[step(pays('c1', 50), finish('tool-calls')), step(pays('c1', 5_000), finish('tool-calls'))], 'the same id'],
    ] as const) {
      const { send } = await serveAgent(createAgent(steps, { tools }).agent);
      let task = await send('Pay');
      if (steps.length > 1) task = await send({ message: { taskId: task.id, parts: [{ text: 'no' }] } });
      expect([task.status.state, statusText(task)]).toEqual(['TASK_STATE_FAILED', expect.stringContaining(reason)]);
    }
    expect(paid).toEqual([]);
  });
});

describe('a model that makes calls without end', () => {
  it('fails its task after 1,000 calls, and none of them runs', async () => {
    const { paid, tools } = shop();
    const calls = Array.from({ length: 10_000 }, (_, at) => pays(`c${at}`, 1));
    const { send } = await serveAgent(createAgent([step(calls, finish('tool-calls'))], { tools }).agent);
    const task = await send('Pay');
    expect([task.status.state, statusText(task)]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('more than 1000 calls'),
    ]);
    expect([toolCalls(task).length <= 1_001, paid]).toEqual([true, []]);
  });
});
