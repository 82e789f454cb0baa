import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, message, Seen, send } from '../../test/engine.js';
import { agent } from './agent.js';

/** The state of the task of an agent with this answer, and the message of the error in the log. */
async function faultOf(answer: (...args: never[]) => unknown) {
  const { handler, clock, logger } = engine(agent(answer as Parameters<typeof agent>[0]));
  const sent = send(handler);
  await clock.settle();
  const [error] = logger.lines.flatMap(({ fields }) => (fields?.error instanceof Error ? [fields.error.message] : []));
  return { state: sent.task?.status.state, error };
}

describe('an answer that is no content fails the task, and the log names the remedy', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 42],
    ['a boolean', true],
    ['an object without content', { answer: 42 }],
    ['a list with a text', ['hello']],
    ['a list with null', [null]],
  ])('%s', async (_name, value) => {
    const returned = await faultOf(() => value);
    expect(returned.state).toBe('TASK_STATE_FAILED');
    expect(returned.error).toMatch(
      /^The agent returned .+\. Return a text or a part, such as \{ data: value \} for JSON$/,
    );
    const yielded = await faultOf(async function* () {
      yield 'first';
      yield value;
    });
    expect(yielded.state).toBe('TASK_STATE_FAILED');
    expect(yielded.error).toMatch(
      /^The agent yielded .+\. Yield a text or a part, such as \{ data: value \} for JSON$/,
    );
  });

  it('a generator that is not async', async () => {
    const { state, error } = await faultOf(function* () {
      yield 'hello';
    });
    expect(state).toBe('TASK_STATE_FAILED');
    expect(error).toBe('The agent returned a generator that is not async. Write it as async function*');
  });
});

it('pieces that end within a character are joined before the client gets them', async () => {
  const { handler, clock } = engine(
    agent(async function* () {
      yield 'a\u{1F600}'.slice(0, 2);
      yield '\u{1F600}b'.slice(1);
      yield '\u{1F600}'.slice(0, 1);
      yield { data: 1 };
    }),
  );
  const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
  await clock.settle();
  const texts = seen.items.flatMap(({ event }) => event.artifactUpdate?.artifact.parts.map(({ text }) => text) ?? []);
  expect(texts.slice(0, 2)).toEqual(['a', '\u{1F600}b']);
});

describe('objects whose getters throw', () => {
  const broken = new Error('broken getter');
  const throwing = (name: string) =>
    Object.defineProperty({}, name, {
      enumerable: true,
      get: () => {
        throw broken;
      },
    });
  it.each<[string, Execute]>([
    ['a part', async (_context, events) => void (await events.artifact(throwing('text') as never))],
    [
      'what describes an artifact',
      (_context, events) => events.artifact('x', throwing('artifactId') as never).then(() => {}),
    ],
    ['a part that is appended', (_context, events) => events.append('a', throwing('text') as never)],
    ['the message of a status', (_context, events) => events.working(throwing('parts') as never)],
    ['a direct message', (_context, events) => events.message(throwing('parts') as never)],
    ['a raw event', (_context, events) => events.publish(throwing('statusUpdate') as never)],
    ['a raw status', (_context, events) => events.publish({ statusUpdate: throwing('status') } as never)],
  ])('fail the task of their agent: %s', async (_name, execute) => {
    const { handler, clock, logger } = engine(execute);
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(logger.lines.filter(({ fields }) => fields?.error === broken)).not.toHaveLength(0);
  });

  it('may be thrown too', async () => {
    const hostile = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw broken;
        },
      },
    );
    const { handler, clock } = engine(() => Promise.reject(hostile));
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_FAILED');
  });
});
