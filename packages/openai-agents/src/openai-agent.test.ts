import {
  Agent,
  MemorySession,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  shellTool,
  ToolGuardrailFunctionOutputFactory,
  tool,
} from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelError,
  modelResponder,
  modelStreamResponder,
  ScriptedModel,
  type ScriptedModelInput,
} from '@openai/agents/testing';
import type { Message, StreamResponse, Task } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';
import { answerApprovals, TOOLS_EXTENSION, type ToolDecision, toolApprovals } from 'parley-a2a/tools';
import { type OpenAIAgentOptions, openAIAgent } from 'parley-a2a-openai-agents';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Sent = Partial<Message> & { readonly text?: string };
let sent = 0;

/** A real server with the agent. Calls go to its HTTP+JSON binding. */
async function serveAgent(options: OpenAIAgentOptions, storage?: TaskStorage) {
  const logged: unknown[] = [];
  const note = (_: string, fields?: object) => void logged.push(fields);
  const server = createA2AServer({
    agent: openAIAgent(options),
    logger: { debug() {}, info() {}, warn: note, error: note },
    ...(storage && { storage }),
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const post = (path: string, body: object) =>
    fetch(`${url}/a2a/rest/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(body),
    });
  const requestOf = ({ text = 'Hello', ...over }: Sent) => {
    sent += 1;
    return { message: { messageId: `m${sent}`, role: 'ROLE_USER', parts: [{ text }], ...over } };
  };
  return {
    logged,
    send: async (over: Sent = {}) =>
      ((await (await post('message:send', requestOf(over))).json()) as { task: Task }).task,
    stream: async (over: Sent = {}) => eventsOf(await post('message:stream', requestOf(over))),
    cancel: (id: string) => post(`tasks/${id}:cancel`, {}),
  };
}

async function* eventsOf(response: Response): AsyncGenerator<StreamResponse> {
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield JSON.parse(data) as StreamResponse;
    }
  }
}

const answerOf = ({ artifacts = [] }: Task) =>
  artifacts.map(({ parts }) => parts.map((part) => (part.text !== undefined ? part.text : '')).join(''));
const follow = ({ id, contextId = '' }: Task) => ({ taskId: id, contextId });
const textsOf = ({ status }: Task) =>
  status.message?.parts.flatMap((part) => (part.text !== undefined ? [part.text] : []));
/** The message with typed answers, as a client sends it. */
const answers = (task: Task, decision: 'approve' | readonly ToolDecision[]) => ({
  ...follow(task),
  parts: answerApprovals(task, decision).parts,
});
const waitingCalls = (task: Task) => toolApprovals(task).map(({ callId }) => callId);

const says = (text: string) => [assistantMessage(text)];
const calls = (name: string, args: object, callId = 'call-1') => [functionCall(name, { ...args }, { callId })];
const scriptModel = (...steps: ScriptedModelInput[]) => new ScriptedModel(steps);

describe('the answer of an agent', () => {
  it('grows with every delta of the model, and tells the tokens that were used', async () => {
    const model = scriptModel(
      modelStreamResponder(async function* () {
        yield { type: 'response_started' } as const;
        for (const delta of ['Hel', 'lo']) yield { type: 'output_text_delta', delta } as const;
        const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
        yield { type: 'response_done', response: { id: 'r', usage, output: says('Hello') } } as const;
      }),
    );
    const { stream } = await serveAgent({ agent: new Agent({ name: 'A', instructions: 'Be brief.', model }) });
    const seen: StreamResponse[] = [];
    for await (const event of await stream()) seen.push(event);
    const chunks = seen.flatMap((event) =>
      event.artifactUpdate !== undefined ? [event.artifactUpdate.artifact.parts] : [],
    );
    expect(chunks).toEqual([[{ text: 'Hel' }], [{ text: 'lo' }]]);
    expect(seen.at(-1)).toMatchObject({
      statusUpdate: {
        status: { state: 'TASK_STATE_COMPLETED' },
        metadata: { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } },
      },
    });
    expect(model.firstCall?.request.systemInstructions).toBe('Be brief.');
  });

  it('knows the conversation of the context, or the session of the application', async () => {
    for (const session of [undefined, new MemorySession()]) {
      const model = scriptModel(says('Hello Ada'), says('Ada'));
      const { send } = await serveAgent({
        agent: new Agent({ name: 'A', model }),
        ...(session && { session: () => session }),
      });
      const { contextId = '' } = await send({ text: 'I am Ada' });
      expect(answerOf(await send({ text: 'Who am I?', contextId }))).toEqual(['Ada']);
      expect(model.lastCall?.request.input).toMatchObject([
        { role: 'user', content: [{ type: 'input_text', text: 'I am Ada' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Hello Ada' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'Who am I?' }] },
      ]);
    }
  });

  it('gives the model images, files and data', async () => {
    const model = scriptModel(says('ok'));
    const { send } = await serveAgent({ agent: new Agent({ name: 'A', model }) });
    await send({
      parts: [
        { data: { a: 1 } },
        { raw: 'AAAA', mediaType: 'image/png' },
        { url: 'https://example.com/a.pdf', mediaType: 'application/pdf', filename: 'a.pdf' },
      ],
    });
    expect(model.firstCall?.request.input).toMatchObject([
      {
        content: [
          { type: 'input_text', text: '{"a":1}' },
          { type: 'input_image', image: 'data:image/png;base64,AAAA' },
          { type: 'input_file', file: { url: 'https://example.com/a.pdf' }, filename: 'a.pdf' },
        ],
      },
    ]);
  });

  it('is data if the agent has an output type', async () => {
    const agent = new Agent({
      name: 'A',
      model: scriptModel(says('{"city":"Oslo"}')),
      outputType: z.object({ city: z.string() }),
    });
    const task = await (await serveAgent({ agent })).send();
    expect(task.artifacts).toMatchObject([{ name: 'response', parts: [{ data: { city: 'Oslo' } }] }]);
  });

  it('shows calls of tools and hand-offs by name, without their arguments', async () => {
    const look = tool({
      name: 'look',
      description: 'Looks',
      parameters: z.object({ at: z.string() }),
      execute: ({ at }) => `secret of ${at}`,
    });
    const expert = new Agent({ name: 'Expert', model: scriptModel(says('I know')) });
    const agent = new Agent({
      name: 'Desk',
      tools: [look],
      handoffs: [expert],
      model: scriptModel(calls('look', { at: 'safe' }), calls('transfer_to_Expert', {}, 'call-2')),
    });
    const { stream } = await serveAgent({ agent });
    const seen: StreamResponse[] = [];
    for await (const event of await stream()) seen.push(event);
    const steps = seen.flatMap((event) => (event.statusUpdate?.metadata ? [event.statusUpdate.metadata] : []));
    expect(steps.slice(0, -1)).toEqual([
      { tool: 'look', state: 'called' },
      { tool: 'look', state: 'answered' },
      { handoff: { from: 'Desk', to: 'Expert' } },
    ]);
    expect(JSON.stringify(seen)).toContain('I know');
    expect(JSON.stringify(seen)).not.toContain('safe');
  });
});

describe('a tool that needs an approval', () => {
  const paid: unknown[] = [];
  afterEach(() => void paid.splice(0));
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    parameters: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: ({ amount }) => {
      paid.push(amount);
      return `paid ${amount}`;
    },
  });
  const shop = (...steps: ScriptedModelInput[]) =>
    new Agent({ name: 'Shop', tools: [pay], model: scriptModel(...steps) });

  it('asks in the format of all tools, and runs once the caller has approved', async () => {
    const { send } = await serveAgent({ agent: shop(calls('pay', { amount: 5 }), says('Thank you')) });
    const asked = await send({ text: 'Buy it' });
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message?.extensions).toEqual([TOOLS_EXTENSION]);
    expect(textsOf(asked)?.[0]).toContain('call-1: pay {"amount":5}');
    const expiresAt = expect.stringMatching(/^20/);
    expect(toolApprovals(asked)).toEqual([{ callId: 'call-1', tool: 'pay', input: { amount: 5 }, expiresAt }]);
    expect(paid).toEqual([]);
    const done = await send(answers(asked, 'approve'));
    expect([done.status.state, answerOf(done), paid]).toEqual(['TASK_STATE_COMPLETED', ['Thank you'], [5]]);
  });

  it('tells the model of a refusal with its reason, and of a message in its place', async () => {
    for (const [parts, told] of [
      [[{ data: { toolApproval: { callId: 'call-1', decision: 'refuse', reason: 'too dear' } } }], ['too dear']],
      [[{ text: 'What for?' }], ['Another message came', 'What for?']],
    ] as const) {
      const model = scriptModel(calls('pay', { amount: 5 }), says('Then not'));
      const { send } = await serveAgent({ agent: new Agent({ name: 'Shop', tools: [pay], model }) });
      const done = await send({ parts: [...parts], ...follow(await send()) });
      expect([done.status.state, answerOf(done), paid]).toEqual(['TASK_STATE_COMPLETED', ['Then not'], []]);
      for (const text of told) expect(JSON.stringify(model.lastCall?.request.input)).toContain(text);
    }
  });

  it('asks again if an answer is for another call, or if the run may end without the model', async () => {
    const { send } = await serveAgent({ agent: shop(calls('pay', { amount: 5 }), says('Thank you')) });
    const asked = await send();
    const stray = await send({
      ...follow(asked),
      parts: [{ data: { toolApproval: { callId: 'call-9', decision: 'approve' } } }],
    });
    expect([waitingCalls(stray), paid]).toEqual([['call-1'], []]);
    const stops = new Agent({
      name: 'Shop',
      tools: [pay],
      toolUseBehavior: 'stop_on_first_tool',
      model: scriptModel(calls('pay', { amount: 5 })),
    });
    const other = await serveAgent({ agent: stops });
    const again = await other.send({ text: 'What for?', ...follow(await other.send()) });
    expect([waitingCalls(again), textsOf(again)?.[0], paid]).toEqual([['call-1'], expect.any(String), []]);
    expect(answerOf(await other.send(answers(again, 'approve')))).toEqual(['paid 5']);
  });

  it('takes a text for all calls, and data for each', async () => {
    const both = [...calls('pay', { amount: 1 }, 'call-1'), ...calls('pay', { amount: 2 }, 'call-2')];
    const { send } = await serveAgent({
      agent: shop(both, says('Done'), calls('pay', { amount: 3 }, 'call-3'), says('Bye')),
    });
    const asked = await send();
    expect(waitingCalls(asked)).toEqual(['call-1', 'call-2']);
    const half = await send(answers(asked, [{ callId: 'call-2', decision: 'approve' }]));
    expect(waitingCalls(half)).toEqual(['call-1']);
    expect((await send({ text: 'No.', ...follow(half) })).status.state).toBe('TASK_STATE_COMPLETED');
    expect(paid).toEqual([2]);
    expect(answerOf(await send({ text: 'yes', ...follow(await send()) }))).toEqual(['Bye']);
    expect(paid).toEqual([2, 3]);
  });

  it('does not run after its time, and not under the id of another call', async () => {
    const model = scriptModel(calls('pay', { amount: 5 }), says('Too late'));
    const slow = await serveAgent({ agent: new Agent({ name: 'Shop', tools: [pay], model }), approvalMs: 0.001 });
    expect(answerOf(await slow.send(answers(await slow.send(), 'approve')))).toEqual(['Too late']);
    expect(JSON.stringify(model.lastCall?.request.input)).toContain('came too late');
    const twice = [...calls('pay', { amount: 1 }), ...calls('pay', { amount: 1_000 })];
    for (const steps of [[twice], [calls('pay', { amount: 1 }), calls('pay', { amount: 1_000 })]]) {
      const { send } = await serveAgent({ agent: shop(...steps) });
      let task = await send();
      if (steps.length > 1) task = await send({ text: 'no', ...follow(task) });
      expect(task.status.state).toBe('TASK_STATE_FAILED');
    }
    expect(paid).toEqual([]);
  });

  it('keeps the state of its run from the caller, and opens it with the configured key only', async () => {
    const key = '0123456789abcdef'.repeat(4);
    const steps = () => shop(calls('pay', { amount: 5 }), calls('pay', { amount: 6 }, 'call-2'));
    const storage = new MemoryStorage({ clock: systemClock });
    const first = await serveAgent({ agent: steps(), secretKeys: [key] }, storage);
    const asked = await first.send({ text: 'Buy the red one' });
    expect(asked.status.message?.metadata).toEqual({ runState: expect.stringMatching(/^parley-sealed/) });
    expect(JSON.stringify(asked.status)).not.toContain('red one');
    const later = new Agent({ name: 'Shop', tools: [pay], model: scriptModel(says('Thank you')) });
    const second = await serveAgent({ agent: later, secretKeys: [key] }, storage);
    const done = await second.send({ text: 'yes', ...follow(asked) });
    expect([done.status.state, answerOf(done), paid]).toEqual(['TASK_STATE_COMPLETED', ['Thank you'], [5]]);
    const other = await first.send();
    const third = await serveAgent({ agent: steps() }, storage);
    const lost = await third.send({ text: 'yes', ...follow(other) });
    expect([lost.status.state, textsOf(lost)?.[0]]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('no longer knows'),
    ]);
    expect(() => openAIAgent({ agent: steps(), secretKeys: ['short'] })).toThrow('secretKeys');
  });

  it('fails if the state of its run is larger than allowed', async () => {
    const { send } = await serveAgent({ agent: shop(calls('pay', { amount: 5 })), maxStateChars: 100 });
    const task = await send();
    expect([task.status.state, textsOf(task)?.[0]]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('too large'),
    ]);
  });
});

describe('the agent of a conversation after a hand-off', () => {
  const conversation = async (over: Partial<OpenAIAgentOptions> = {}, outputType?: z.ZodObject) => {
    const said = outputType === undefined ? says : () => says('{"answer":"yes"}');
    const expert = new Agent({
      name: 'Expert',
      model: scriptModel(said('I know'), said('Still I'), calls('transfer_to_Desk', {}, 'call-2')),
      ...(outputType !== undefined && { outputType }),
    });
    const desk = new Agent({
      name: 'Desk',
      handoffs: [expert],
      model: scriptModel([...says('One moment'), ...calls('transfer_to_Expert', {})], says('Back'), says('Desk')),
    });
    Object.assign(expert, { handoffs: [desk] });
    const { send } = await serveAgent({ agent: desk, ...over });
    const tasks: Task[] = [await send()];
    const contextId = tasks[0]?.contextId ?? '';
    while (tasks.length < 4) tasks.push(await send({ contextId }));
    return tasks;
  };

  it.each<[string, Partial<OpenAIAgentOptions>]>([
    ['the conversation of the context', {}],
    ['a session', { session: () => new MemorySession() }],
    ['an input of the application', { input: () => 'Hello' }],
  ])('is the last one, until it hands back: with %s', async (_, over) => {
    const tasks = await conversation(over);
    expect(tasks.map(({ artifacts = [] }) => artifacts.at(-1)?.metadata)).toEqual(
      ['Expert', 'Expert', 'Desk', 'Desk'].map((agent) => ({ agent })),
    );
    expect(tasks.map(answerOf)).toEqual([['One moment\n\nI know'], ['Still I'], ['Back'], ['Desk']]);
  });

  it('is the last one also if it answers with data', async () => {
    const [, second] = await conversation({}, z.object({ answer: z.string() }));
    expect(second?.artifacts).toMatchObject([{ parts: [{ data: { answer: 'yes' } }], metadata: { agent: 'Expert' } }]);
  });

  it('is the first one if the last one is gone, and an agent alone is not named', async () => {
    const storage = new MemoryStorage({ clock: systemClock });
    const expert = new Agent({ name: 'Expert', model: scriptModel(says('I know')) });
    const asks = scriptModel(calls('transfer_to_Expert', {}));
    const before = await serveAgent({ agent: new Agent({ name: 'Desk', handoffs: [expert], model: asks }) }, storage);
    const { contextId = '' } = await before.send();
    const after = await serveAgent({ agent: new Agent({ name: 'Desk', model: scriptModel(says('Me')) }) }, storage);
    const next = await after.send({ contextId });
    expect([answerOf(next), next.artifacts?.[0]?.metadata]).toEqual([['Me'], undefined]);
  });
});

describe('a run that goes on after a crash', () => {
  it('needs tools whose calls can be recorded, or that are idempotent', () => {
    const run = { run: async () => ({ output: [] }) };
    const agent = new Agent({ name: 'A', model: scriptModel(), tools: [shellTool({ shell: run })] });
    expect(() => openAIAgent({ agent, resumable: true })).toThrow('no call of shell is known after a crash');
    expect(openAIAgent({ agent, resumable: true, idempotent: (name) => name === 'shell' })).toBeDefined();
    expect(openAIAgent({ agent })).toBeDefined();
  });

  it('calls no tool that a guardrail of the application refuses, and keeps its guardrails', async () => {
    const ran: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      parameters: z.object({}),
      execute: () => void ran.push('pay'),
      inputGuardrails: [{ name: 'no', run: async () => ToolGuardrailFunctionOutputFactory.rejectContent('not now') }],
    });
    const model = scriptModel(calls('pay', {}), says('Then not'));
    const { send } = await serveAgent({ agent: new Agent({ name: 'A', tools: [pay], model }), resumable: true });
    expect(answerOf(await send())).toEqual(['Then not']);
    expect([ran, JSON.stringify(model.lastCall?.request.input).includes('not now')]).toEqual([[], true]);
  });
});

describe('an agent that does not end well', () => {
  const trips = { name: 'no-secrets', execute: async () => ({ tripwireTriggered: true, outputInfo: 'sk-123' }) };

  it('rejects the task by a guardrail of the input, and shows no text of the model', async () => {
    const agent = new Agent({ name: 'A', model: scriptModel(says('the answer')), inputGuardrails: [trips] });
    const task = await (await serveAgent({ agent })).send();
    expect([task.status.state, textsOf(task)]).toEqual([
      'TASK_STATE_REJECTED',
      ['The guardrail no-secrets refuses the message.'],
    ]);
    expect(JSON.stringify(task)).not.toMatch(/sk-123|the answer/);
  });

  it('fails the task by a guardrail of the output, and shows no text of the model', async () => {
    const expert = new Agent({ name: 'Expert', model: scriptModel(says('the secret')), outputGuardrails: [trips] });
    const agent = new Agent({ name: 'Desk', handoffs: [expert], model: scriptModel(calls('transfer_to_Expert', {})) });
    const task = await (await serveAgent({ agent })).send();
    expect([task.status.state, textsOf(task)]).toEqual([
      'TASK_STATE_FAILED',
      ['The guardrail no-secrets withholds the answer.'],
    ]);
    expect(JSON.stringify(task)).not.toMatch(/sk-123|the secret/);
  });

  it('shows the text that guardrails let pass', async () => {
    const passes = { name: 'fine', execute: async () => ({ tripwireTriggered: false, outputInfo: {} }) };
    const agent = new Agent({ name: 'A', model: scriptModel(says('the answer')), outputGuardrails: [passes] });
    expect(answerOf(await (await serveAgent({ agent })).send())).toEqual(['the answer']);
  });

  it('fails the task with the reason if the model is called too often', async () => {
    const look = tool({ name: 'look', description: 'Looks', parameters: z.object({}), execute: () => 'nothing' });
    const model = scriptModel(calls('look', {}, 'c1'), calls('look', {}, 'c2'), calls('look', {}, 'c3'));
    const task = await (
      await serveAgent({ agent: new Agent({ name: 'A', tools: [look], model }), maxTurns: 2 })
    ).send();
    expect([task.status.state, textsOf(task)]).toEqual([
      'TASK_STATE_FAILED',
      ['The agent needed more turns than it may take.'],
    ]);
  });

  it('fails the task without details if the model fails; the log has them', async () => {
    const agent = new Agent({ name: 'A', model: scriptModel(modelError(new Error('the key sk-123 is not valid'))) });
    const { send, logged } = await serveAgent({ agent });
    const task = await send();
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('sk-123');
    expect(logged).toMatchObject([{ error: { message: 'the key sk-123 is not valid' } }]);
  });

  it('stops when its task is canceled', async () => {
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const model = scriptModel(
      modelResponder(({ request: { signal } }) => {
        signal?.addEventListener('abort', () => aborted.resolve());
        begun.resolve();
        return aborted.promise.then(() => says('too late'));
      }),
    );
    const { stream, cancel } = await serveAgent({ agent: new Agent({ name: 'A', model }) });
    const seen: StreamResponse[] = [];
    for await (const event of await stream()) {
      seen.push(event);
      if (event.task !== undefined) void begun.promise.then(() => cancel(event.task.id));
    }
    await aborted.promise;
    expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect(JSON.stringify(seen)).not.toContain('too late');
  });
});

describe('traces', () => {
  it('are made only if the application asks for them', async () => {
    const traced: string[] = [];
    const processor = {
      onTraceStart: async () => void traced.push('trace'),
      onTraceEnd: async () => {},
      onSpanStart: async () => {},
      onSpanEnd: async () => {},
      shutdown: async () => {},
      forceFlush: async () => {},
    };
    setTraceProcessors([processor]);
    setTracingDisabled(false);
    const agent = () => new Agent({ name: 'A', model: scriptModel(says('ok')) });
    await (await serveAgent({ agent: agent() })).send();
    expect(traced).toEqual([]);
    await (await serveAgent({ agent: agent(), tracing: true })).send();
    expect(traced).toEqual(['trace']);
    expect(() => openAIAgent({ agent: agent(), runner: new Runner() })).toThrow('runner: sends traces to OpenAI');
    expect(openAIAgent({ agent: agent(), runner: new Runner({ tracingDisabled: true }) })).toBeDefined();
  });
});
