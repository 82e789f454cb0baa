import { createProviderRegistry, generateText, isStepCount, type ModelMessage, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { connect } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import type { AgentExecutor, RequestContext } from 'parley-a2a/server';
import { type A2AToolOutput, a2aLanguageModel, a2aProvider, a2aTool, streamTextAgent } from 'parley-a2a-ai-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { finish, type ModelPart, step, text, toolCall } from './model-parts.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A real server with an agent, and its url. */
async function serveAgent(
  execute: AgentExecutor['execute'] | AgentExecutor,
  options: { readonly streaming?: boolean } = {},
): Promise<string> {
  const agent = typeof execute === 'function' ? { execute } : execute;
  const server = createA2AServer({ agent, name: 'Travel', description: 'Books flights.', logger: silent, ...options });
  closers.push(() => server.close({ graceMs: 0 }));
  return (await server.listen(0)).url;
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
};

/** A model that calls the tool, and then repeats its answer. */
function callsTool(input: object) {
  return new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'travel', input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: 'text', text: 'Done' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}

/** Books after a question. */
const askForDay: AgentExecutor['execute'] = async ({ text: said, task, history }, events) => {
  if (history.length === 0) return events.inputRequired('Which day?');
  await events.artifact(`Booked: ${said}`, { name: 'booking' });
  await events.artifact({ data: { seat: 3 } });
  await events.artifact({ raw: 'AQI=', mediaType: 'application/pdf', filename: 'ticket.pdf' });
  await events.complete(task === undefined ? 'new' : undefined);
};

describe('an agent as a tool', () => {
  it('answers the model, which learns of the agent by its card', async () => {
    const model = callsTool({ message: 'Book', data: { to: 'Rome' } });
    const url = await serveAgent(({ message }, events) => events.complete(`Got ${JSON.stringify(message.parts)}`));
    const travel = await a2aTool(url);
    const result = await generateText({ model, prompt: 'go', tools: { travel }, stopWhen: isStepCount(2) });
    expect(result.text).toBe('Done');
    expect(model.doGenerateCalls[0]?.tools).toMatchObject([
      { name: 'travel', description: expect.stringContaining('Books flights.') },
    ]);
    expect(result.steps[0]?.toolResults[0]?.output).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      text: 'Got [{"text":"Book"},{"data":{"to":"Rome"}}]',
    });
  });

  it('lets the model answer a question of the agent', async () => {
    const travel = await a2aTool(await connect(await serveAgent(askForDay)), { description: 'Books.' });
    const run = async (input: object) => {
      const model = callsTool(input);
      const { steps } = await generateText({ model, prompt: 'go', tools: { travel }, stopWhen: isStepCount(2) });
      return steps[0]?.toolResults[0]?.output as A2AToolOutput;
    };
    const question = await run({ message: 'Book' });
    expect(question).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', text: 'Which day?' });
    expect(await run({ message: 'Monday', taskId: question.taskId ?? '' })).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      text: 'Booked: Monday',
      data: [{ seat: 3 }],
      files: [{ filename: 'ticket.pdf', mediaType: 'application/pdf' }],
    });
  });

  it('shows the answer while it grows, and cuts it off', async () => {
    const url = await serveAgent(async (_, events) => {
      const id = await events.artifact('a'.repeat(600));
      await events.flush();
      await events.append(id, 'b'.repeat(600));
      await events.complete();
    });
    const model = new MockLanguageModelV4({
      doStream: [
        step(toolCall('c1', 'travel', { message: 'hi' }), finish('tool-calls')),
        step(text(['Done']), finish()),
      ],
    });
    const tools = { travel: await a2aTool(url, { maxChars: 1000 }) };
    const shown: { text: string; preliminary: boolean }[] = [];
    for await (const part of streamText({ model, prompt: 'go', tools, stopWhen: isStepCount(2) }).fullStream) {
      if (part.type !== 'tool-result') continue;
      shown.push({ text: (part.output as A2AToolOutput).text, preliminary: part.preliminary === true });
    }
    expect(shown.filter(({ preliminary }) => preliminary).map((one) => one.text.length)).toContain(600);
    expect(shown.at(-1)).toEqual({ preliminary: false, text: `${'a'.repeat(600)}${'b'.repeat(400)}… [cut off]` });
  });

  it('a task that fails is an answer', async () => {
    const travel = await a2aTool(await serveAgent((_, events) => events.fail('No seats')));
    const model = callsTool({ message: 'Book' });
    const { steps } = await generateText({ model, prompt: 'go', tools: { travel }, stopWhen: isStepCount(2) });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ state: 'TASK_STATE_FAILED', text: 'No seats' });
  });

  it('waits for an agent that neither streams nor waits itself', async () => {
    const done = Promise.withResolvers<void>();
    const working: AgentExecutor['execute'] = async (_, events) => {
      await events.working();
      await done.promise;
      await events.complete('Booked');
    };
    const configuration = { returnImmediately: true };
    const client = await connect(await serveAgent(working, { streaming: false }), {
      interceptors: [
        (call, next) => {
          if (call.operation === 'getTask') done.resolve();
          return next(
            call.operation === 'sendMessage' ? { ...call, request: { ...call.request, configuration } } : call,
          );
        },
      ],
    });
    const travel = await a2aTool(client);
    const model = callsTool({ message: 'Book' });
    const { steps } = await generateText({ model, prompt: 'go', tools: { travel }, stopWhen: isStepCount(2) });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ state: 'TASK_STATE_COMPLETED', text: 'Booked' });
  });

  it('an abort cancels the task', async () => {
    const { agent, begun, ended } = createStuckAgent();
    const travel = await a2aTool(await serveAgent(agent));
    const controller = new AbortController();
    const running = generateText({
      model: callsTool({ message: 'Book' }),
      prompt: 'go',
      tools: { travel },
      stopWhen: isStepCount(2),
      abortSignal: controller.signal,
    });
    await begun;
    controller.abort();
    await expect(running).rejects.toThrow();
    await ended;
  });
});

/** An agent that works until it is canceled. */
function createStuckAgent() {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const agent: AgentExecutor = {
    async execute({ signal }, events) {
      await events.artifact('Working on it');
      await events.flush();
      begun.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    cancel: () => ended.resolve(),
  };
  return { agent, begun: begun.promise, ended: ended.promise };
}

describe('an agent as a language model', () => {
  it('streams its text by deltas, with files and data', async () => {
    const url = await serveAgent(async (_, events) => {
      const id = await events.artifact('Hel');
      await events.append(id, 'lo');
      await events.artifact({ raw: 'AQI=', mediaType: 'image/png' });
      await events.artifact({ url: 'https://example.org/a.pdf', filename: 'a.pdf' });
      await events.artifact({ data: { n: 1 } });
      await events.complete();
    });
    const result = streamText({ model: a2aLanguageModel(url), prompt: 'hi' });
    const deltas: string[] = [];
    for await (const part of result.fullStream) if (part.type === 'text-delta') deltas.push(part.text);
    expect(deltas).toEqual(['Hel', 'lo', '{"n":1}']);
    expect((await result.files).map(({ base64, mediaType }) => [base64, mediaType])).toEqual([['AQI=', 'image/png']]);
    expect(await result.sources).toMatchObject([{ url: 'https://example.org/a.pdf', title: 'a.pdf' }]);
    expect(await result.finishReason).toBe('stop');
    expect((await result.totalUsage).inputTokens).toBeUndefined();
  });

  it('remembers by its context, and goes on with a task that asks', async () => {
    const contexts: RequestContext[] = [];
    const model = a2aLanguageModel(
      await serveAgent((context, events) => {
        contexts.push(context);
        return askForDay(context, events);
      }),
    );
    const messages: ModelMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Book' },
    ];
    const options = { model, allowSystemInMessages: true };
    const first = await generateText({ ...options, messages });
    expect(first.text).toBe('Which day?');
    messages.push(...first.response.messages, { role: 'user', content: 'Monday' });
    const second = await generateText({ ...options, messages });
    expect(second.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))[0]).toBe('Booked: Monday');
    messages.push(...second.response.messages, { role: 'user', content: 'Again' });
    await generateText({ ...options, messages });
    expect(contexts[0]?.message.parts).toEqual([{ text: 'Be brief.' }, { text: 'Book' }]);
    expect(contexts[1]?.taskId).toBe(contexts[0]?.taskId);
    expect(contexts[2]?.taskId).not.toBe(contexts[0]?.taskId);
    expect(contexts[2]?.contextId).toBe(contexts[0]?.contextId);
    expect(contexts[2]?.message.parts).toEqual([{ text: 'Again' }]);
    expect(second.providerMetadata?.a2a).toMatchObject({ contextId: contexts[0]?.contextId });
  });

  it('sends earlier messages as text to a new context, and files as they are', async () => {
    let parts: unknown;
    const url = await serveAgent(({ message }, events) => {
      parts = message.parts;
      return events.complete('ok');
    });
    const { warnings } = await generateText({
      model: a2aLanguageModel(url),
      temperature: 0,
      messages: [
        { role: 'user', content: 'I am Ada' },
        { role: 'assistant', content: 'Hello' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2]) } },
            { type: 'file', mediaType: 'text/plain', data: { type: 'url', url: new URL('http://10.0.0.1/a') } },
          ],
        },
      ],
    });
    expect(parts).toEqual([
      { text: 'Earlier messages:\nuser: I am Ada\nassistant: Hello' },
      { text: 'See' },
      { raw: 'AQI=', mediaType: 'image/png' },
      { url: 'http://10.0.0.1/a', mediaType: 'text/plain' },
    ]);
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'temperature' }]);
  });

  it('an agent on a model tells its reasoning, its tokens and its limit', async () => {
    const thinking: ModelPart[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r' },
    ];
    const inner = new MockLanguageModelV4({ doStream: step(thinking, text(['Half']), finish('length')) });
    const shows = { reasoning: 'always', cutOff: 'completed' } as const;
    const url = await serveAgent(streamTextAgent({ model: inner, shows }));
    const result = await generateText({ model: a2aLanguageModel(url), prompt: 'hi' });
    expect(result.finishReason).toBe('length');
    expect(result.totalUsage).toMatchObject({ inputTokens: 3, outputTokens: 7 });
    expect(result.finalStep.reasoningText).toBe('Hm.');
    expect(result.content.filter((part) => part.type === 'text')[0]).toMatchObject({ text: 'Half' });
  });

  it.each(['fail', 'reject'] as const)('%s of a task is an error with the text of the agent', async (end) => {
    const model = a2aLanguageModel(await serveAgent((_, events) => events[end]('No seats')));
    await expect(generateText({ model, prompt: 'hi', maxRetries: 0 })).rejects.toThrow('No seats');
    const errors: unknown[] = [];
    const result = streamText({ model, prompt: 'hi', onError: ({ error }) => void errors.push(error) });
    for await (const part of result.fullStream) if (part.type === 'text-delta') throw new Error(part.text);
    expect(errors).toMatchObject([{ message: 'No seats' }]);
  });

  it('an agent that is away is an error', async () => {
    const url = await serveAgent((_, events) => events.complete());
    for (const close of closers.splice(0)) await close();
    await expect(generateText({ model: a2aLanguageModel(url), prompt: 'hi', maxRetries: 0 })).rejects.toThrow();
  });

  it.each(['generateText', 'streamText'] as const)('an abort of %s cancels the task', async (name) => {
    const { agent, begun, ended } = createStuckAgent();
    const model = a2aLanguageModel(await serveAgent(agent));
    const controller = new AbortController();
    const options = { model, prompt: 'hi', abortSignal: controller.signal, maxRetries: 0 };
    const running =
      name === 'generateText' ? generateText(options).then(() => {}) : streamText(options).consumeStream();
    const settled = Promise.allSettled([running]);
    await begun;
    controller.abort();
    await settled;
    await ended;
  });
});

describe('a provider', () => {
  it('has agents by name in a registry, and no others', async () => {
    const server = createA2AServer({ agent: async (prompt: string) => `You said ${prompt}` });
    closers.push(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen(0);
    const registry = createProviderRegistry({ a2a: a2aProvider({ echo: url }) });
    const { text: said, response } = await generateText({ model: registry.languageModel('a2a:echo'), prompt: 'hi' });
    expect([said, response.modelId]).toEqual(['You said hi', 'echo']);
    for (const name of ['other', 'constructor', url] as const) {
      expect(() => registry.languageModel(`a2a:${name}`)).toThrow(`no agent is the language model ${name}`);
    }
    expect(() => registry.embeddingModel('a2a:echo')).toThrow('no agent is the embedding model echo');
    expect(() => registry.imageModel('a2a:echo')).toThrow('no agent is the image model echo');
  });
});
