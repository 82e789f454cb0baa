import { AIMessage, AIMessageChunk, type AIMessageChunkFields } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { FakeListChatModel, FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { Message, StreamResponse, Task } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { usageIn } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import type { Authenticator, TokenBudgetOptions } from 'parley-a2a/server';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type LangGraphAgentOptions, langGraphAgent } from './langgraph-agent.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Sent = Partial<Message> & { readonly text?: string };
let sent = 0;

/** A real server with the graph. Calls go to its HTTP+JSON binding. */
async function serveAgent(
  options: LangGraphAgentOptions,
  authenticator?: Authenticator,
  tokenBudget?: TokenBudgetOptions,
) {
  const logged: unknown[] = [];
  const note = (_: string, fields?: object) => void logged.push(fields);
  const server = createA2AServer({
    agent: langGraphAgent(options),
    logger: { debug() {}, info() {}, warn: note, error: note },
    ...(authenticator && { authenticator }),
    ...(tokenBudget && { tokenBudget }),
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const post = (path: string, body: object, key = '') =>
    fetch(`${url}/a2a/rest/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-api-key': key },
      body: JSON.stringify(body),
    });
  const requestOf = ({ text = 'Hello', ...over }: Sent) => {
    sent += 1;
    return { message: { messageId: `m${sent}`, role: 'ROLE_USER', parts: [{ text }], ...over } };
  };
  return {
    logged,
    send: async (over: Sent = {}, key?: string) =>
      ((await (await post('message:send', requestOf(over), key)).json()) as { task: Task }).task,
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
const questionOf = ({ status }: Task) => status.message?.parts;

const model = (...responses: string[]) => new FakeListChatModel({ responses });

function chat(chatModel = model('Hi there'), checkpointer?: MemorySaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('think', async ({ messages }) => ({ messages: [await chatModel.invoke(messages)] }))
    .addEdge(START, 'think')
    .addEdge('think', END)
    .compile(checkpointer && { checkpointer });
}

describe('the answer of a graph', () => {
  it('grows with every token of its model, and shows each node', async () => {
    const { stream } = await serveAgent({ graph: chat() });
    const seen: StreamResponse[] = [];
    for await (const event of await stream()) seen.push(event);
    const chunks = seen.flatMap((event) => (event.artifactUpdate !== undefined ? [event.artifactUpdate] : []));
    expect(chunks.map(({ artifact }) => artifact.parts[0])).toMatchObject([...'Hi there'].map((text) => ({ text })));
    expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1);
    const nodes = seen.flatMap((event) => (event.statusUpdate?.metadata ? [event.statusUpdate.metadata] : []));
    expect(nodes).toEqual([{ node: 'think' }]);
    expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it('asks its author whether a saver derived from MemorySaver is durable', () => {
    class FileSaver extends MemorySaver {}
    const graph = chat(model('Hi'), new FileSaver());
    expect(() => langGraphAgent({ graph })).toThrow(
      'langGraphAgent: resumable: say true or false, because FileSaver is derived from MemorySaver',
    );
    for (const resumable of [true, false]) expect(langGraphAgent({ graph, resumable }).resumable).toBe(resumable);
  });

  it('gets the conversation of the context, from the checkpointer or without one', async () => {
    for (const checkpointer of [undefined, new MemorySaver()]) {
      const prompts: unknown[] = [];
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('think', ({ messages }) => {
          prompts.push(messages.map((message) => [message.getType(), message.content]));
          return { messages: [new AIMessage(`answer ${messages.length}`)] };
        })
        .addEdge(START, 'think')
        .compile(checkpointer && { checkpointer });
      const { send } = await serveAgent({ graph });
      const first = await send({ text: 'one' });
      expect(answerOf(first)).toEqual(['answer 1']);
      await send({ text: 'two', contextId: first.contextId ?? '' });
      await send({ text: 'elsewhere' });
      expect(prompts).toEqual([
        [['human', 'one']],
        [
          ['human', 'one'],
          ['ai', 'answer 1'],
          ['human', 'two'],
        ],
        [['human', 'elsewhere']],
      ]);
    }
  });

  it('does not mix the texts of nodes that write at the same time', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('left', async ({ messages }) => ({ messages: [await slow('aaaaaaaa').invoke(messages)] }))
      .addNode('right', async ({ messages }) => ({ messages: [await slow('bbbbbbbb').invoke(messages)] }))
      .addNode('sum', () => ({ messages: [new AIMessage('sum')] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(['left', 'right'], 'sum')
      .compile();
    const answers = answerOf(await (await serveAgent({ graph })).send());
    expect(answers.map((text) => text.replace('\n\nsum', '')).sort()).toEqual(['aaaaaaaa', 'bbbbbbbb']);
    expect(answers.filter((text) => text.endsWith('\n\nsum'))).toHaveLength(1);
  });

  it('is only the text of the chosen nodes, or what the application makes of the state', async () => {
    const graph = () =>
      new StateGraph(MessagesAnnotation)
        .addNode('plan', async ({ messages }) => ({ messages: [await model('secret plan').invoke(messages)] }))
        .addNode('answer', async ({ messages }) => ({ messages: [await model('Hello Ada').invoke(messages)] }))
        .addEdge(START, 'plan')
        .addEdge('plan', 'answer')
        .compile();
    expect(answerOf(await (await serveAgent({ graph: graph() })).send())).toEqual(['secret plan\n\nHello Ada']);
    expect(answerOf(await (await serveAgent({ graph: graph(), nodes: ['answer'] })).send())).toEqual(['Hello Ada']);
    const output = (state: unknown) => ({ data: { count: (state as { messages: unknown[] }).messages.length } });
    const task = await (await serveAgent({ graph: graph(), output })).send();
    expect(task.artifacts).toMatchObject([{ name: 'response', parts: [{ data: { count: 3 } }] }]);
  });

  it('begins again if a node runs again after an error', async () => {
    let runs = 0;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode(
        'think',
        async ({ messages }) => {
          runs += 1;
          const message = await model(`try ${runs}`).invoke(messages);
          if (runs === 1) throw new Error('once more');
          return { messages: [message] };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'think')
      .compile();
    expect(answerOf(await (await serveAgent({ graph })).send())).toEqual(['try 2']);
  });

  it('shows events of nodes and tells the tokens that were used', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', async ({ messages }, { writer }) => {
        writer?.('looking');
        writer?.({ found: 3 });
        const usage_metadata = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
        return {
          messages: [
            await new FakeStreamingChatModel({ responses: [new AIMessage({ content: 'x' })] }).invoke(messages),
          ],
          usage_metadata,
        };
      })
      .addEdge(START, 'think')
      .compile();
    const { stream } = await serveAgent({ graph, steps: false });
    const shown: unknown[] = [];
    for await (const event of await stream())
      if (event.statusUpdate !== undefined) shown.push(event.statusUpdate.status.message?.parts);
    expect(shown).toEqual(expect.arrayContaining([[{ text: 'looking' }], [{ data: { found: 3 } }]]));
  });
});

/** A model that gives other nodes time between its tokens. */
const slow = (text: string) => new FakeListChatModel({ responses: [text], sleep: 1 });

describe('an interrupt of a graph', () => {
  const State = Annotation.Root({
    said: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  });
  const output = (state: unknown) => ({ data: { said: (state as { said: string[] }).said } });
  const createAskingGraph = (questions: readonly unknown[], checkpointer = new MemorySaver()) => {
    const graph = new StateGraph(State)
      .addNode('ask', () => ({ said: questions.map((question) => interrupt(question)) }))
      .addEdge(START, 'ask')
      .compile({ checkpointer });
    return { graph, input: () => ({ said: [] }), output };
  };

  it('asks the caller, and goes on with the text or the data of the answer', async () => {
    const { send } = await serveAgent(createAskingGraph(['Your name?', { pick: ['a', 'b'] }]));
    const first = await send();
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(questionOf(first)).toEqual([
      { text: 'Your name?' },
      { data: { interruptId: expect.any(String), value: 'Your name?' } },
    ]);
    const second = await send({ text: 'Ada', ...follow(first) });
    expect(questionOf(second)).toMatchObject([
      { text: '{"pick":["a","b"]}' },
      { data: { value: { pick: ['a', 'b'] } } },
    ]);
    const third = await send({ parts: [{ data: { choice: 'a' } }], ...follow(first) });
    expect(third.status.state).toBe('TASK_STATE_COMPLETED');
    expect(third.artifacts?.[0]?.parts).toEqual([{ data: { said: ['Ada', { choice: 'a' }] } }]);
  });

  it('is one of several that are answered by id, in any order', async () => {
    const graph = new StateGraph(State)
      .addNode('left', () => ({ said: [interrupt('left?')] }))
      .addNode('right', () => ({ said: [interrupt('right?')] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ checkpointer: new MemorySaver() });
    const { send } = await serveAgent({ graph, input: () => ({ said: [] }), output });
    const first = await send();
    const ids = new Map(
      (questionOf(first) ?? []).flatMap((part) => {
        const { interruptId, value } = (part.data !== undefined ? part.data : {}) as {
          interruptId?: string;
          value?: string;
        };
        return interruptId === undefined ? [] : [[value ?? '', interruptId] as const];
      }),
    );
    expect([...ids.keys()].sort()).toEqual(['left?', 'right?']);
    const unclear = await send({ text: 'yes', ...follow(first) });
    expect(unclear.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(questionOf(unclear)?.[0]).toEqual({ text: expect.stringContaining('interruptId') });
    const half = await send({
      parts: [{ text: 'R', metadata: { interruptId: ids.get('right?') ?? '' } }],
      ...follow(first),
    });
    expect(questionOf(half)).toHaveLength(2);
    expect(questionOf(half)?.[0]).toEqual({ text: 'left?' });
    const done = await send({ parts: [{ data: { [ids.get('left?') ?? '']: 'L' } }], ...follow(first) });
    expect(done.artifacts?.[0]?.parts).toEqual([{ data: { said: ['L', 'R'] } }]);
  });

  it('of a pause before a node is answered by any message', async () => {
    const graph = new StateGraph(State)
      .addNode('pay', () => ({ said: ['paid'] }))
      .addEdge(START, 'pay')
      .compile({ checkpointer: new MemorySaver(), interruptBefore: ['pay'] });
    const { send } = await serveAgent({ graph, input: () => ({ said: ['start'] }), output });
    const first = await send();
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(questionOf(first)?.[0]).toEqual({ text: expect.stringContaining('pauses at pay') });
    const done = await send({ text: 'go on', ...follow(first) });
    expect(done.artifacts?.[0]?.parts).toEqual([{ data: { said: ['start', 'paid'] } }]);
  });

  it('is asked again if the answer does not have the form of its schema', async () => {
    const graph = new StateGraph(State)
      .addNode('ask', () => ({ said: [interrupt('How many?', { responseSchema: z.number() })] }))
      .addEdge(START, 'ask')
      .compile({ checkpointer: new MemorySaver() });
    const { send } = await serveAgent({ graph, input: () => ({ said: [] }), output });
    const first = await send();
    expect(questionOf(first)?.[1]).toMatchObject({ data: { responseSchema: { type: 'number' } } });
    const again = await send({ text: 'many', ...follow(first) });
    expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(questionOf(again)?.map((part) => part.text !== undefined && part.text)).toEqual([
      expect.stringMatching(/does not have the form .*\n\nHow many\?$/),
      false,
    ]);
    const done = await send({ parts: [{ data: 3 }], ...follow(first) });
    expect(done.artifacts?.[0]?.parts).toEqual([{ data: { said: [3] } }]);
  });

  it.each<[string, z.ZodType, Sent, unknown]>([
    ['a number', z.number(), { text: '3' }, 3],
    ['a boolean', z.boolean(), { text: 'No.' }, false],
    ['a choice', z.enum(['red', 'blue']), { text: 'Red' }, 'red'],
    ['a text that looks like a number', z.string(), { text: '3' }, '3'],
    ['a text that looks like a refusal', z.string(), { text: 'no' }, 'no'],
    ['the value of the only field', z.object({ nights: z.number() }), { text: '2' }, { nights: 2 }],
    ['the form as JSON', z.object({ a: z.string(), b: z.number() }), { text: '{"a":"x","b":1}' }, { a: 'x', b: 1 }],
    ['the only field as data', z.object({ nights: z.number() }), { parts: [{ data: 2 }] }, { nights: 2 }],
    ['words as data', z.number(), { parts: [{ data: '3' }] }, 3],
    ['a list', z.array(z.number()), { text: '1, 2' }, [1, 2]],
    ['nothing', z.nullable(z.number()), { text: 'null' }, null],
  ])('with a schema is answered as a question of a tool: %s', async (_, responseSchema, sent, value) => {
    const graph = new StateGraph(State)
      .addNode('ask', () => ({ said: [interrupt('Well?', { responseSchema })] }))
      .addEdge(START, 'ask')
      .compile({ checkpointer: new MemorySaver() });
    const { send } = await serveAgent({ graph, input: () => ({ said: [] }), output });
    const first = await send();
    const bad = await send({ parts: [{ data: { wrong: [] } }], ...follow(first) });
    expect(questionOf(bad)?.[0]).toEqual({ text: expect.stringMatching(/does not have the form .*\. \w/) });
    const done = await send({ ...sent, ...follow(first) });
    expect(done.artifacts?.[0]?.parts).toEqual([{ data: { said: [value] } }]);
  });

  it('with a form tells people its fields', async () => {
    const responseSchema = z.object({ city: z.string(), nights: z.number() });
    const graph = new StateGraph(State)
      .addNode('ask', () => ({ said: [interrupt('Where?', { responseSchema })] }))
      .addEdge(START, 'ask')
      .compile({ checkpointer: new MemorySaver() });
    const first = await (await serveAgent({ graph, input: () => ({ said: [] }), output })).send();
    const lines =
      '- city (string; required)\n- nights (number; required)\n\nAnswer with a JSON object of these fields.';
    expect(questionOf(first)?.[0]).toEqual({ text: `Where?\n\n${lines}` });
  });

  it('that another task of the context has overtaken fails its own task', async () => {
    const { send } = await serveAgent(createAskingGraph(['Your name?']));
    const first = await send();
    const second = await send({ contextId: first.contextId ?? '' });
    expect(second.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await send({ text: 'Eve', ...follow(second) });
    const late = await send({ text: 'Ada', ...follow(first) });
    expect(late.status.state).toBe('TASK_STATE_FAILED');
    expect(questionOf(late)?.[0]).toEqual({ text: expect.stringContaining('has gone on') });
  });
});

describe('the thread of a graph', () => {
  it('belongs to one caller: another caller with the same context has another one', async () => {
    const keys = ['ada', 'eve'].map((subject) => ({ key: `key-of-${subject}`, subject }));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('count', ({ messages }) => ({ messages: [new AIMessage(`${messages.length}`)] }))
      .addEdge(START, 'count')
      .compile({ checkpointer: new MemorySaver() });
    const { send } = await serveAgent({ graph }, new ApiKeys(keys));
    expect(answerOf(await send({ contextId: 'c' }, 'key-of-ada'))).toEqual(['1']);
    expect(answerOf(await send({ contextId: 'c' }, 'key-of-ada'))).toEqual(['3']);
    expect(answerOf(await send({ contextId: 'c' }, 'key-of-eve'))).toEqual(['1']);
  });

  it('serves one turn at a time', async () => {
    let running = 0;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', async ({ messages }) => {
        running += 1;
        const most = running;
        await slow('12345').invoke(messages);
        running -= 1;
        return { messages: [new AIMessage(`${most} at once, after ${messages.length}`)] };
      })
      .addEdge(START, 'think')
      .compile({ checkpointer: new MemorySaver() });
    const { send } = await serveAgent({ graph, nodes: [], output: (state) => lastOf(state) });
    const tasks = await Promise.all([1, 2, 3].map(() => send({ contextId: 'c' })));
    expect(tasks.flatMap(answerOf).sort()).toEqual([1, 3, 5].map((count) => `1 at once, after ${count}`));
  });
});

const lastOf = (state: unknown) => (state as { messages: AIMessage[] }).messages.at(-1)?.text;

describe('a graph that does not end well', () => {
  it('fails its task without details when a node throws; the log has them', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', () => Promise.reject(new Error('the key sk-123 is not valid')))
      .addEdge(START, 'think')
      .compile();
    const { send, logged } = await serveAgent({ graph });
    const task = await send();
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('sk-123');
    expect(logged).toMatchObject([{ error: { message: 'the key sk-123 is not valid' } }]);
  });

  it('fails its task with the reason when it needs too many steps', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', () => ({ messages: [] }))
      .addEdge(START, 'think')
      .addConditionalEdges('think', () => 'think', ['think'])
      .compile();
    const task = await (await serveAgent({ graph, recursionLimit: 4 })).send();
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(questionOf(task)).toEqual([{ text: 'The agent needed more steps than it may take.' }]);
  });

  it('stops when its task is canceled', async () => {
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('wait', async (_, { signal }) => {
        signal?.addEventListener('abort', () => aborted.resolve());
        begun.resolve();
        await aborted.promise;
        return { messages: [] };
      })
      .addEdge(START, 'wait')
      .compile({ checkpointer: new MemorySaver() });
    const { stream, cancel } = await serveAgent({ graph });
    const seen: StreamResponse[] = [];
    for await (const event of await stream()) {
      seen.push(event);
      if (event.task === undefined) continue;
      void begun.promise.then(() => cancel(event.task.id));
    }
    await aborted.promise;
    expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
  });
});

describe('the tokens of a graph', () => {
  /** A graph that calls its model until the text of the turn. Each call takes 8 tokens of input and 2 of output. */
  function createCountingGraph(rounds: number) {
    let calls = 0;
    class CountedModel extends FakeListChatModel {
      override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
        calls += 1;
        const usage_metadata = {
          input_tokens: 8,
          output_tokens: 2,
          total_tokens: 10,
          input_token_details: { cache_read: 3 },
        };
        const fields: object = { content: 'x', usage_metadata };
        const message = new AIMessageChunk(fields as AIMessageChunkFields);
        yield new ChatGenerationChunk({ message, text: 'x' });
      }
    }
    const chatModel = new CountedModel({ responses: ['x'] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', async ({ messages }) => ({ messages: [await chatModel.invoke(messages)] }))
      .addEdge(START, 'think')
      .addConditionalEdges('think', ({ messages }) => (messages.length > rounds ? END : 'think'))
      .compile();
    return { graph, calls: () => calls };
  }

  it('are those of all calls of its models', async () => {
    const { graph } = createCountingGraph(3);
    const { metadata } = await (await serveAgent({ graph })).send();
    expect(usageIn(metadata)).toMatchObject({ inputTokens: 24, outputTokens: 6, cachedInputTokens: 9 });
  });

  it.each([
    [{ turn: 15 }, '20 of 15', 2],
    [{ task: 10 }, '10 of 10', 1],
  ])('end the graph at a budget: %j', async (budget, figures, most) => {
    const { graph, calls } = createCountingGraph(6);
    const task = await (await serveAgent({ graph }, undefined, budget)).send();
    expect([task.status.state, calls()]).toEqual(['TASK_STATE_FAILED', most]);
    expect(task.status.message?.parts[0]?.text).toContain(figures);
  });
});
