import { setTimeout as wait } from 'node:timers/promises';
import type { AgentExecutor, AgentOptions, EventQueue, RequestContext } from 'parley-a2a/server';

/** The reaction of the demo agent to the first word of a message. */
interface Behaviour {
  readonly word: string;
  readonly description: string;
  readonly run: (context: RequestContext, events: EventQueue) => Promise<void>;
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const DEFAULT_SECONDS = 30;

const BEHAVIOURS: readonly Behaviour[] = [
  {
    word: 'message',
    description: 'answers by a message, without a task',
    run: (context, events) => events.message(`You said: ${context.text}`),
  },
  {
    word: 'fail',
    description: 'fails',
    run: (_, events) => events.fail('This task was meant to fail'),
  },
  {
    word: 'reject',
    description: 'rejects the task',
    run: (_, events) => events.reject('This task was meant to be rejected'),
  },
  {
    word: 'ask',
    description: 'asks for a reply, and completes with it',
    run: async (_, events) => {
      await events.working();
      await events.inputRequired('What is your name?');
    },
  },
  {
    word: 'auth',
    description: 'asks for authorization',
    run: async (_, events) => {
      await events.working();
      await events.authRequired('Sign in first');
    },
  },
  {
    word: 'stream',
    description: 'streams a text in pieces',
    run: async ({ signal }, events) => {
      await events.working();
      const id = await events.artifact('one ', { name: 'count' });
      for (const piece of ['two ', 'three ', 'four']) {
        await wait(200, undefined, { signal });
        await events.append(id, piece);
      }
      await events.complete();
    },
  },
  {
    word: 'slow',
    description: `works for as many seconds as follow, by default ${DEFAULT_SECONDS}`,
    run: async ({ text, signal }, events) => {
      await events.working('This takes a while');
      await wait(1000 * Number(/\d+/.exec(text)?.[0] ?? DEFAULT_SECONDS), undefined, { signal });
      await events.complete('Done at last');
    },
  },
  {
    word: 'file',
    description: 'returns a file',
    run: async (_, events) => {
      await events.artifact({ raw: PIXEL, filename: 'pixel.png', mediaType: 'image/png' }, { name: 'picture' });
      await events.complete();
    },
  },
  {
    word: 'data',
    description: 'returns data',
    run: async (context, events) => {
      await events.artifact({ data: { said: context.text, parts: context.message.parts.length } }, { name: 'facts' });
      await events.complete();
    },
  },
  {
    word: 'text',
    description: 'returns a text; so does anything else',
    run: async (context, events) => {
      await events.artifact(`You said: ${context.text}`, { name: 'answer' });
      await events.complete();
    },
  },
];

const executor: AgentExecutor = {
  replies: 'either',
  async execute(context, events) {
    if (context.task !== undefined) {
      await events.artifact(`Hello, ${context.text}`, { name: 'greeting' });
      return events.complete();
    }
    const first = context.text.trim().split(/\s+/)[0]?.toLowerCase();
    const behaviour = BEHAVIOURS.find(({ word }) => word === first) ?? BEHAVIOURS.at(-1);
    await behaviour?.run(context, events);
  },
};

/** Makes a demo agent for every command. The first word of a message selects its reaction. */
export function demoAgent(): AgentOptions {
  return {
    agent: executor,
    name: 'Demo',
    description: 'An agent to practise with: the first word of a message says what happens.',
    skills: BEHAVIOURS.map(({ word, description }) => ({
      id: word,
      name: word,
      description: `The word "${word}" ${description}.`,
      tags: ['demo'],
      examples: [word],
    })),
  };
}
