import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { connect } from 'parley-a2a';
import { type AgentOptions, createA2AServer } from 'parley-a2a/node';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { type A2AChatMessage, type A2AChatPlace, a2aChatHandler, a2aChatTransport } from 'parley-a2a-ai-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Steps } from '../console/steps.js';

const waitFor = <Value>(check: () => Value | Promise<Value>) => vi.waitFor(check, { timeout: 15_000 });
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The chat of `useChat`, without React. */
class Chat extends AbstractChat<A2AChatMessage> {
  constructor({ messages = [], ...init }: ChatInit<A2AChatMessage>) {
    const state: ChatState<A2AChatMessage> = {
      status: 'ready',
      error: undefined,
      messages,
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (index, message) => void state.messages.splice(index, 1, structuredClone(message)),
      snapshot: structuredClone,
    };
    super({ ...init, state });
  }
}

type Agent = NonNullable<AgentOptions['agent']>;

async function serveAgent(agent: Agent, options: { readonly streaming?: boolean } = {}): Promise<string> {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const server = createA2AServer({ name: 'Agent', agent, logger, ...options });
  closers.push(() => server.close({ graceMs: 0 }));
  return (await server.listen(0)).url;
}

/** The two ways from `useChat` to an agent. Both open a chat anew for each page. */
const WAYS = {
  'in the page': (url: string) => {
    const places = new Map<string, A2AChatPlace>();
    return () => a2aChatTransport(url, { places });
  },
  'through an endpoint': (url: string) => {
    const handler = a2aChatHandler(url);
    const call: typeof fetch = (input, init) => handler(new Request(input, init));
    return () => new DefaultChatTransport<A2AChatMessage>({ api: 'http://app.test/api/chat', fetch: call });
  },
} as const;

describe.each(Object.entries(WAYS))('a chat %s', (name, way) => {
  async function page(agent: Agent, options: { readonly streaming?: boolean } = {}) {
    const url = await serveAgent(agent, options);
    const transport = way(url);
    const id = crypto.randomUUID();
    const open = (messages: A2AChatMessage[] = []) =>
      new Chat({
        id,
        messages,
        transport: transport(),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      });
    return { url, id, open, chat: open() };
  }

  it('streams the text of an agent', async () => {
    const steps = new Steps();
    const { chat } = await page(async function* (prompt, { signal }) {
      yield `You said ${prompt}. `;
      await steps.next(signal);
      yield 'Bye.';
    });
    const sent = chat.sendMessage({ text: 'hello' });
    await waitFor(() => expect(textIn(chat.messages)).toBe('You said hello. '));
    expect(chat.status).toBe('streaming');
    steps.allow(1);
    await sent;
    expect(textIn(chat.messages)).toBe('You said hello. Bye.');
    expect(chat.status).toBe('ready');
  });

  it('goes on in its context, also after a reload', async () => {
    const { chat, open } = await page(async (prompt, context) => `${prompt} ${(await context.conversation()).length}`);
    await chat.sendMessage({ text: 'one' });
    const again = open(chat.messages);
    await again.sendMessage({ text: 'two' });
    expect(textIn(again.messages)).toBe('two 3');
    expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('answers a question of the agent', async () => {
    const { chat } = await page({
      async execute({ history, message }, events) {
        if (history.length === 0) await events.inputRequired('Which city?');
        else await events.complete(`Off to ${message.parts[0]?.text}`);
      },
    });
    await chat.sendMessage({ text: 'travel' });
    expect(textIn(chat.messages)).toBe('Which city?');
    expect(chat.lastMessage?.metadata).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
    const { taskId } = chat.lastMessage?.metadata ?? {};
    await chat.sendMessage({ text: 'Oslo' });
    expect(textIn(chat.messages)).toBe('Off to Oslo');
    expect(chat.lastMessage?.metadata).toMatchObject({ state: 'TASK_STATE_COMPLETED', taskId });
  });

  it.each([
    { approved: true, state: 'output-available', paid: 1, text: 'I look. Paid 50' },
    { approved: false, state: 'output-denied', paid: 0, text: 'I look. Not paid' },
  ])('asks before a tool runs: approved $approved', async ({ approved, state, paid, text }) => {
    const calls: unknown[] = [];
    const { chat } = await page(cashier(calls));
    await chat.sendMessage({ text: 'pay' });
    const [asked] = toolsIn(chat.messages);
    expect(asked).toMatchObject({ toolName: 'pay', input: { euros: 50 }, state: 'approval-requested' });
    expect(calls).toEqual([]);
    await chat.addToolApprovalResponse({ id: asked?.approval?.id ?? '', approved });
    await waitFor(() => expect(textIn(chat.messages)).toBe(text));
    await waitFor(() => expect(chat.status).toBe('ready'));
    expect(toolsIn(chat.messages)).toMatchObject([{ toolName: 'pay', state }]);
    expect(calls).toHaveLength(paid);
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('shows reasoning, files, data and the end of a task that fails', async () => {
    const { chat } = await page({
      async execute(_, events) {
        await events.artifact('Hm.', {
          artifactId: 'why',
          metadata: { 'urn:parley-a2a:extension:model-output:v1': { content: 'reasoning' } },
        });
        await events.artifact([{ raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' }]);
        await events.artifact([{ url: 'https://files.test/a.png', mediaType: 'image/png' }]);
        await events.artifact([{ data: { answer: 42 } }]);
        await events.fail('The printer is out of paper.');
      },
    });
    await chat.sendMessage({ text: 'go' });
    expect(chat.lastMessage?.parts.filter(({ type }) => type !== 'step-start')).toMatchObject([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' },
      { type: 'file', mediaType: 'image/png', url: 'https://files.test/a.png' },
      { type: 'data-a2a', data: { answer: 42 } },
    ]);
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toBe('The printer is out of paper.');
  });

  it('sends files and data of the user', async () => {
    const { chat } = await page({
      async execute({ message }, events) {
        await events.complete(JSON.stringify(message.parts));
      },
    });
    const files = [
      { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url: 'data:text/plain;base64,aGk=' },
    ] as const;
    await chat.sendMessage({ parts: [...files, { type: 'data-a2a', data: { n: 1 } }] });
    expect(JSON.parse(textIn(chat.messages))).toEqual([
      { raw: 'aGk=', mediaType: 'text/plain', filename: 'a.txt' },
      { data: { n: 1 } },
    ]);
  });

  it('goes on after a reload in the middle, without a gap and without doubled text', async () => {
    const steps = new Steps();
    const { chat, open } = await page(async function* (_, { signal }) {
      for (const word of ['one ', 'two ', 'three ', 'four']) {
        await steps.next(signal);
        yield word;
      }
    });
    void chat.sendMessage({ text: 'count' });
    steps.allow(2);
    await waitFor(() => expect(textIn(chat.messages)).toBe('one two '));
    // The page is gone, with all that it kept of its messages.
    const again = open(structuredClone(chat.messages));
    const resumed = again.resumeStream();
    await waitFor(() => expect(again.status).toBe('streaming'));
    steps.allow(1);
    await waitFor(() => expect(textIn(again.messages)).toBe('one two three '));
    steps.allow(1);
    await resumed;
    expect(textIn(again.messages)).toBe('one two three four');
    expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('tells only the new part of a task again, if an answer of the user has continued it', async () => {
    const steps = new Steps();
    const { chat, open } = await page({
      async execute({ history, signal }, events) {
        await events.artifact(history.length === 0 ? 'First.' : 'Second', { artifactId: `part-${history.length}` });
        if (history.length === 0) await events.inputRequired('More?');
        else {
          await steps.next(signal);
          await events.complete();
        }
      },
    });
    await chat.sendMessage({ text: 'go' });
    void chat.sendMessage({ text: 'yes' });
    await waitFor(() => expect(textIn(chat.messages)).toBe('Second'));
    const again = open(structuredClone(chat.messages));
    const resumed = again.resumeStream();
    await waitFor(() => expect(again.status).toBe('streaming'));
    steps.allow(1);
    await resumed;
    expect(again.messages.map(textOf)).toEqual(['go', 'First.More?', 'yes', 'Second']);
  });

  it('goes on after a reload while an approved tool runs', async () => {
    const steps = new Steps();
    const { url, chat, open } = await page(cashier([], steps));
    await chat.sendMessage({ text: 'pay' });
    const [asked] = toolsIn(chat.messages);
    await chat.addToolApprovalResponse({ id: asked?.approval?.id ?? '', approved: true });
    const client = await connect(url);
    const state = async () => (await client.listTasks()).tasks[0]?.status.state;
    await waitFor(async () => expect(await state()).not.toBe('TASK_STATE_INPUT_REQUIRED'));
    const again = open(structuredClone(chat.messages));
    const resumed = again.resumeStream();
    await waitFor(() => expect(again.status).toBe('streaming'));
    steps.allow(1);
    await resumed;
    expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(toolsIn(again.messages)).toMatchObject([{ toolName: 'pay', state: 'output-available' }]);
    expect(textIn(again.messages)).toBe('I look. Paid 50');
  });

  it('goes on with an agent that has no streams', async () => {
    const steps = new Steps();
    const agent: Agent = async (prompt, { signal }) => {
      await steps.next(signal);
      return prompt;
    };
    const { url, chat, open } = await page(agent, { streaming: false });
    void chat.sendMessage({ text: 'slowly' });
    const client = await connect(url);
    await waitFor(async () => expect((await client.listTasks()).tasks).toHaveLength(1));
    const again = open(structuredClone(chat.messages));
    const resumed = again.resumeStream();
    await waitFor(() => expect(again.status).toBe('submitted'));
    steps.allow(1);
    await resumed;
    expect(textIn(again.messages)).toBe('slowly');
    expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('has nothing to go on with before a message, and after an answer', async () => {
    const { chat, open } = await page((prompt) => prompt);
    await chat.resumeStream();
    expect([chat.status, chat.messages]).toEqual(['ready', []]);
    await chat.sendMessage({ text: 'hello' });
    const again = open(chat.messages);
    await again.resumeStream();
    expect([again.status, again.messages]).toEqual(['ready', chat.messages]);
  });

  it('waits while the user authorizes the agent at a page', async () => {
    const { chat } = await page({
      async execute(context, events) {
        const { parameters } = await context.requestAuthorization({
          message: 'Please let me read your calendar',
          url: ({ url, state }) => `${url}?state=${state}&code=abc`,
          scopes: ['calendar.read'],
        });
        await events.complete(`Got ${parameters.code}`);
      },
    });
    const sent = chat.sendMessage({ text: 'plan' });
    const asked = await waitFor(() => {
      const part = chat.lastMessage?.parts.find(({ type }) => type === 'data-authorization');
      if (part?.type !== 'data-authorization') throw new Error('not asked');
      return part.data;
    });
    expect(asked.scopes).toEqual(['calendar.read']);
    expect((await fetch(asked.url ?? '')).status).toBe(200);
    await sent;
    expect(textIn(chat.messages)).toBe('Please let me read your calendarGot abc');
  });

  it('tells the user that the agent cannot be reached', async () => {
    const transport = way('http://127.0.0.1:9')();
    const chat = new Chat({ transport });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.status).toBe('error');
    if (name === 'through an endpoint') expect(chat.error?.message).toBe('The agent did not answer.');
  });
});

describe('a chat in the page', () => {
  it('cancels the task if the user stops it', async () => {
    const url = await serveAgent({
      async execute({ signal }, events) {
        await events.artifact('Working', { artifactId: 'a' });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const chat = new Chat({ transport: a2aChatTransport(url) });
    void chat.sendMessage({ text: 'work' });
    await waitFor(() => expect(textIn(chat.messages)).toBe('Working'));
    await chat.stop();
    const client = await connect(url);
    await waitFor(async () => {
      expect((await client.listTasks()).tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
    });
  });
});

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The text of the last message, if the agent has written it. */
function textIn(messages: readonly UIMessage[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? textOf(last) : '';
}

function toolsIn(messages: readonly UIMessage[]) {
  return (messages.at(-1)?.parts ?? []).filter((part) => part.type === 'dynamic-tool');
}

/** An agent with a tool that needs an approval. */
function cashier(calls: unknown[], steps?: Steps) {
  const pay = defineTool({
    name: 'pay',
    input: jsonSchema<{ euros: number }>({ type: 'object', required: ['euros'] }),
    needsApproval: true,
    run: async ({ euros }, { signal }) => {
      await steps?.next(signal);
      calls.push(euros);
      return `Paid ${euros}`;
    },
  });
  return toolAgent(new ToolRegistry([pay]), async (run, { events }) => {
    if (run.text === 'pay') await events.artifact('I look. ', { artifactId: 'response' });
    try {
      await events.complete(`${await run.call(pay, { euros: 50 })}`);
    } catch (error) {
      if ((error as { reason?: string }).reason !== 'refused') throw error;
      await events.complete('Not paid');
    }
  });
}
