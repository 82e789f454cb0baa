import { isStepCount, jsonSchema, type ToolSet, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { connect, type StreamResponse, type Task, textOf } from 'parley-a2a';
import { usageIn } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import type { EngineLimits, TokenBudgetOptions } from 'parley-a2a/server';
import { answerApprovals, defineTool, jsonSchema as schema, ToolRegistry, toolCalls } from 'parley-a2a/tools';
import { MODEL_OUTPUT_EXTENSION, type StreamTextAgentOptions, streamTextAgent } from 'parley-a2a-ai-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { finish, type ModelPart, step, text, toolCall } from './model-parts.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Steps = readonly Awaited<ReturnType<MockLanguageModelV4['doStream']>>[];

/** A real server with an agent on a mock model, and a client of it. */
async function serveAgent(
  doStream: Steps | MockLanguageModelV4['doStream'],
  options: Partial<StreamTextAgentOptions> = {},
  limits: Partial<EngineLimits> = {},
  tokenBudget: TokenBudgetOptions = {},
) {
  const model = new MockLanguageModelV4({ doStream: typeof doStream === 'function' ? doStream : [...doStream] });
  const logged: unknown[] = [];
  const note = (_: string, fields?: object) => void logged.push(fields);
  const server = createA2AServer({
    agent: streamTextAgent({ model, ...options }),
    extensions: [{ uri: MODEL_OUTPUT_EXTENSION }],
    logger: { debug() {}, info() {}, warn: note, error: note },
    limits,
    tokenBudget,
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const client = await connect(url);
  const sendMessage = async (message: Parameters<typeof client.sendMessage>[0], extensions: readonly string[] = []) => {
    const answer = await client.sendMessage(message, { extensions });
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
  const collectEvents = async (extensions: readonly string[] = []) => {
    const events: StreamResponse[] = [];
    for await (const event of client.sendStreamingMessage('Say hello', { extensions })) events.push(event);
    return events;
  };
  return { model, client, logged, sendMessage, collectEvents };
}

const marksOf = (value: { readonly metadata?: object | undefined } | undefined) =>
  (value?.metadata as Record<string, Record<string, unknown>> | undefined)?.[MODEL_OUTPUT_EXTENSION];
const findArtifact = (task: Task, name: string) => task.artifacts?.find((artifact) => artifact.name === name);

describe('an agent on streamText', () => {
  it('needs a model, and takes resumable as an option of the agent', () => {
    const model = new MockLanguageModelV4({});
    expect(() => streamTextAgent({} as never)).toThrow('streamTextAgent: model: is required');
    expect(() => streamTextAgent(undefined as never)).toThrow('streamTextAgent: model: is required');
    expect(() => streamTextAgent({ model, resumable: true } as never)).toThrow('give it in the second argument');
    expect(streamTextAgent({ model }, { resumable: true }).resumable).toBe(true);
  });

  it('streams each delta, tells each step, and ends with the tokens', async () => {
    const { collectEvents, model } = await serveAgent([step(text(['Hel', 'lo']), finish())], {
      instructions: 'Be brief.',
    });
    const events = await collectEvents();
    const chunks = events.flatMap((event) => (event.artifactUpdate !== undefined ? [event.artifactUpdate] : []));
    expect(chunks.map(({ artifact }) => artifact.parts)).toEqual([[{ text: 'Hel' }], [{ text: 'lo' }]]);
    expect(chunks.map(({ lastChunk }) => lastChunk)).toEqual([undefined, true]);
    const statuses = events.flatMap((event) => (event.statusUpdate !== undefined ? [event.statusUpdate] : []));
    expect(statuses.map(marksOf)).toContainEqual({ step: 1 });
    const usage = { inputTokens: 3, outputTokens: 7, totalTokens: 10 };
    expect(statuses.at(-1)?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(marksOf(statuses.at(-1))).toEqual({ steps: 1, finishReason: 'stop', usage });
    expect(marksOf(chunks.at(-1)?.artifact)).toEqual({ steps: 1, finishReason: 'stop', usage });
    expect(model.doStreamCalls[0]?.prompt).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Say hello' }] },
    ]);
  });

  it('keeps blocks of text apart, and halves of a character together', async () => {
    const parts = [text(['One \ud83d', '\ude00'], 'a'), text(['Two'], 'b'), finish()];
    const { sendMessage } = await serveAgent([step(...parts)]);
    expect(textOf(await sendMessage('hi'))).toBe('One 😀\n\nTwo');
  });

  it('shows reasoning to callers that ask for it, and to others never', async () => {
    const thinking: ModelPart[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2]) } },
    ];
    const answer = () => step(thinking, text(['Hi']), finish());
    const { sendMessage, model } = await serveAgent([answer(), answer(), answer()]);
    expect((await sendMessage('one')).artifacts?.map(({ name }) => name)).toEqual(['response']);
    const task = await sendMessage('two', [MODEL_OUTPUT_EXTENSION]);
    expect(task.artifacts?.map(({ name }) => name)).toEqual(['reasoning', 'reasoning-file-1', 'response']);
    expect(marksOf(findArtifact(task, 'reasoning'))).toEqual({ content: 'reasoning' });
    expect(findArtifact(task, 'reasoning-file-1')?.parts).toEqual([{ raw: 'AQI=', mediaType: 'image/png' }]);
    await sendMessage({ message: { parts: [{ text: 'three' }], contextId: task.contextId ?? '' } });
    expect(JSON.stringify(model.doStreamCalls[2]?.prompt)).not.toMatch(/Hm\.|image/);
  });

  it('runs tools, shows calls and results, and gives them to the model in the next turn', async () => {
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: ({ city }) => {
        if (city === 'Oslo') throw new Error('the key sk-123 is not valid');
        return { degrees: 20 };
      },
    });
    const calls = [toolCall('c1', 'weather', { city: 'Rome' }), toolCall('c2', 'weather', { city: 'Oslo' })];
    const { sendMessage, model } = await serveAgent(
      [
        step(text(['Let me look.']), calls, finish('tool-calls')),
        step(text(['It is 20°.']), finish()),
        step(text(['Bye']), finish()),
      ],
      { tools: { weather }, stopWhen: isStepCount(3) },
    );
    const task = await sendMessage('Weather?');
    expect(textOf(findArtifact(task, 'response') ?? task)).toBe('Let me look.\n\nIt is 20°.');
    expect(marksOf(findArtifact(task, 'response'))).toMatchObject({ steps: 2, usage: { totalTokens: 20 } });
    const records = toolCalls(task);
    const failure = { reason: 'threw', message: 'weather failed.' };
    expect(records).toEqual([
      { id: 'c1', tool: 'weather', state: 'succeeded', input: { city: 'Rome' }, output: { degrees: 20 } },
      { id: 'c2', tool: 'weather', state: 'failed', input: { city: 'Oslo' }, failure },
    ]);
    expect(JSON.stringify(task)).not.toContain('sk-123');
    await sendMessage({ message: { parts: [{ text: 'Thanks' }], contextId: task.contextId ?? '' } });
    expect(model.doStreamCalls[2]?.prompt).toMatchObject([
      { role: 'user', content: [{ text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [{ text: 'Let me look.\n\nIt is 20°.' }, { toolCallId: 'c1' }, { toolCallId: 'c2' }],
      },
      { role: 'tool', content: [{ output: { value: { degrees: 20 } } }, { output: { type: 'error-text' } }] },
      { role: 'user', content: [{ text: 'Thanks' }] },
    ]);
  });

  /** A registry whose tool counts its runs. */
  function mail() {
    const sentTo: string[] = [];
    const send = defineTool({
      name: 'mail.send',
      description: 'Sends a mail.',
      input: schema<{ to: string }>({ type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }),
      needsApproval: ({ to }) => to !== 'me',
      run: ({ to }) => {
        sentTo.push(to);
        return { ok: true };
      },
    });
    return { sentTo, tools: new ToolRegistry([send]) };
  }

  it('runs the tools of a registry', async () => {
    const { tools, sentTo } = mail();
    const calls = [toolCall('c1', 'mail_send', { to: 'me' }), toolCall('c2', 'mail_send', { to: 7 })];
    const { sendMessage, model } = await serveAgent(
      [step(calls, finish('tool-calls')), step(text(['Sent']), finish())],
      {
        tools,
      },
    );
    const task = await sendMessage('Send it');
    expect(textOf(task)).toBe('Sent');
    expect(sentTo).toEqual(['me']);
    const recorded = Object.fromEntries(toolCalls(task).map((call) => [call.id, call]));
    expect(recorded).toMatchObject({
      c1: { tool: 'mail.send', state: 'succeeded', output: { ok: true } },
      c2: { state: 'failed', failure: { reason: 'invalid_input' } },
    });
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('are not valid');
  });

  it.each([
    ['approve', ['Ada'], 'succeeded', { type: 'json', value: { ok: true } }],
    ['refuse', [], 'refused', { type: 'execution-denied' }],
  ] as const)('asks the owner before a call, who may %s it', async (decision, sentTo, state, output) => {
    const registry = mail();
    const { sendMessage, model } = await serveAgent(
      [
        step(text(['One moment.']), toolCall('c1', 'mail_send', { to: 'Ada' }), finish('tool-calls')),
        step(text(['Done']), finish()),
      ],
      { tools: registry.tools },
    );
    const asked = await sendMessage('Send it to Ada');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(registry.sentTo).toEqual([]);
    const task = await sendMessage({ message: answerApprovals(asked, decision) });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(registry.sentTo).toEqual(sentTo);
    expect(toolCalls(task)).toMatchObject([{ id: 'c1', state }]);
    expect(model.doStreamCalls[1]?.prompt).toMatchObject([
      { role: 'user', content: [{ text: 'Send it to Ada' }] },
      { role: 'assistant', content: [{ text: 'One moment.' }, { toolCallId: 'c1', toolName: 'mail_send' }] },
      { role: 'tool', content: [{ toolCallId: 'c1', output }] },
    ]);
  });

  it('fails if the model calls a tool without code', async () => {
    const tools: ToolSet = { ask: tool({ inputSchema: jsonSchema({ type: 'object' }), outputSchema: jsonSchema({}) }) };
    const { sendMessage } = await serveAgent([step(toolCall('c1', 'ask', {}), finish('tool-calls'))], { tools });
    const { status } = await sendMessage('hi');
    expect(status.state).toBe('TASK_STATE_FAILED');
    expect(status.message?.parts).toEqual([{ text: 'The model called a tool that the agent does not run.' }]);
  });

  it('gives files as bytes and sources as urls', async () => {
    const image: ModelPart = {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: new Uint8Array([1, 2]) },
    };
    const source = (url: string): ModelPart => ({ type: 'source', sourceType: 'url', id: url, url, title: 'Rain' });
    const parts = [image, source('https://example.org/rain'), source('javascript:alert(1)'), text(['Here']), finish()];
    const { sendMessage } = await serveAgent([step(...parts)]);
    const task = await sendMessage('draw');
    expect(findArtifact(task, 'file-1')?.parts).toEqual([{ raw: 'AQI=', mediaType: 'image/png' }]);
    expect(findArtifact(task, 'sources')?.parts).toEqual([
      { url: 'https://example.org/rain', metadata: { [MODEL_OUTPUT_EXTENSION]: { title: 'Rain' } } },
      { data: { url: 'javascript:alert(1)', title: 'Rain' } },
    ]);
  });

  it.each([
    ['length', 'TASK_STATE_FAILED', 'limit of tokens'],
    ['content-filter', 'TASK_STATE_FAILED', 'content filter'],
    ['interrupted', 'TASK_STATE_FAILED', 'stopped early'],
  ] as const)('a model that stops by %s does not complete the task', async (reason, state, says) => {
    const { sendMessage } = await serveAgent([step(text(['Half']), finish(reason))]);
    const task = await sendMessage('hi');
    expect(task.status.state).toBe(state);
    expect(textOf({ ...task, artifacts: [] })).toContain(says);
    expect(textOf(task)).toBe('Half');
  });

  it.each<[string, readonly ModelPart[]]>([
    ['within its text', text(['Half']).slice(0, 2)],
    ['after its text', text(['Half'])],
    ['before its first part', []],
  ])('a stream that ends %s, without a reason, does not complete the task', async (_, parts) => {
    const { sendMessage } = await serveAgent([step(parts)]);
    const task = await sendMessage('hi');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf({ ...task, artifacts: [] })).not.toBe('');
    expect(textOf(task)).toBe(parts.length > 0 ? 'Half' : textOf({ ...task, artifacts: [] }));
  });

  it('completes an answer whose model stops for a reason of its own', async () => {
    const { sendMessage } = await serveAgent([step(text(['Whole']), finish('other'))]);
    expect((await sendMessage('hi')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('completes a cut off answer if its author says so, and says it', async () => {
    const { sendMessage } = await serveAgent([step(text(['Half']), finish('length'))], {
      shows: { cutOff: 'completed' },
    });
    const task = await sendMessage('hi');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(marksOf(findArtifact(task, 'response'))).toMatchObject({ finishReason: 'length' });
  });

  it('fails without the text of an error', async () => {
    const failing = step(text(['Hel']), { type: 'error', error: new Error('the key sk-123 is not valid') });
    const { sendMessage, logged } = await serveAgent([failing]);
    const task = await sendMessage('hi');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('sk-123');
    expect(logged).toMatchObject([{ error: { message: 'the key sk-123 is not valid' } }]);
  });

  /** A model that begins an answer, and then hears nothing. */
  const endless = (aborted: () => void): MockLanguageModelV4['doStream'] => {
    return async ({ abortSignal }) => {
      abortSignal?.addEventListener('abort', aborted);
      const parts: ModelPart[] = [{ type: 'stream-start', warnings: [] }, ...text(['Hel']).slice(0, 2)];
      return { stream: new ReadableStream({ start: (to) => parts.forEach((part) => void to.enqueue(part)) }) };
    };
  };

  it('a cancel reaches the model, and ends the task though the model goes on', async () => {
    const aborted = Promise.withResolvers<void>();
    const { client } = await serveAgent(endless(aborted.resolve));
    let last: StreamResponse | undefined;
    let canceled: Promise<Task> | undefined;
    for await (const event of client.sendStreamingMessage('hi')) {
      last = event;
      if (event.artifactUpdate !== undefined) canceled ??= client.cancelTask(event.artifactUpdate.taskId);
    }
    await aborted.promise;
    expect((await canceled)?.status.state).toBe('TASK_STATE_CANCELED');
    expect(last).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
  });

  it('the deadline of the turn ends an answer that never ends', async () => {
    const aborted = Promise.withResolvers<void>();
    const { sendMessage, model } = await serveAgent(endless(aborted.resolve), {}, { turnDeadlineMs: 200 });
    // A machine that stands still uses up the time of a turn before it calls the model, so it is asked for again.
    do expect((await sendMessage('hi')).status.state).toBe('TASK_STATE_FAILED');
    while (model.doStreamCalls.length === 0);
    await aborted.promise;
  });

  it('gives the model data as JSON, files as bytes, and urls only where they are allowed', async () => {
    const { sendMessage, model } = await serveAgent([step(text(['Hi']), finish())], {
      conversation: { urls: ({ hostname }) => hostname === 'files.example.org' },
    });
    await sendMessage({
      message: {
        parts: [
          { text: 'See' },
          { data: { n: 1 } },
          { raw: 'AQI=', mediaType: 'image/png', filename: 'a.png' },
          { url: 'http://169.254.169.254/secret', mediaType: 'text/plain' },
        ],
      },
    });
    expect(model.doStreamCalls[0]?.prompt).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'text', text: '{"n":1}' },
          { type: 'file', mediaType: 'image/png', filename: 'a.png' },
          { type: 'text', text: '[file: text/plain, http://169.254.169.254/secret]' },
        ],
      },
    ]);
  });
});

describe('the tokens of an answer', () => {
  /** Three steps with a tool, and one with a text. Each takes 3 tokens of input and 7 of output. */
  const steps = () => [
    ...['a', 'b', 'c'].map((id) => step(toolCall(id, 'look', {}), finish('tool-calls'))),
    step(text(['Done']), finish()),
  ];
  const tools = { look: tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute: () => 'seen' }) };

  it('are those of all steps, each counted once', async () => {
    const { sendMessage } = await serveAgent(steps(), { tools });
    expect(usageIn((await sendMessage('hi')).metadata)).toMatchObject({ inputTokens: 12, outputTokens: 28 });
  });

  it.each([
    [{ turn: 15 }, '20 of 15', 2],
    [{ task: 10 }, '10 of 10', 1],
  ])('end the answer at a budget: %j', async (budget, figures, most) => {
    const { sendMessage, model } = await serveAgent(steps(), { tools }, {}, budget);
    const { status, metadata } = await sendMessage('hi');
    expect([status.state, model.doStreamCalls.length]).toEqual(['TASK_STATE_FAILED', most]);
    expect(status.message?.parts[0]?.text).toContain(figures);
    expect(usageIn(metadata)?.inputTokens).toBe(3 * most);
  });
});
