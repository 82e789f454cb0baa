import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, message, Sent } from '../../test/engine.js';
import type { ManualClock } from '../../test/manual-clock.js';
import type { User } from '../auth/user.js';
import type { Message } from '../model/message.js';
import type { Task } from '../model/task.js';
import type { ConversationEntry, ConversationOptions } from './conversation.js';
import type { DefaultRequestHandler } from './default-request-handler.js';

const ALICE: User = { id: 'test/alice' };
const BOB: User = { id: 'test/bob' };

/** The entries in short: role, then text. */
const printEntries = (entries: readonly ConversationEntry[]) => entries.map(({ role, text }) => `${role}: ${text}`);

/** Sends a message, and resolves to its task once the agent has answered. The agent loads code on demand. */
async function sendAndWait(
  { handler, clock }: { readonly handler: DefaultRequestHandler; readonly clock: ManualClock },
  over: Partial<Message>,
  user?: User,
): Promise<Task> {
  const context = { ...call(), ...(user && { user }) };
  const sent = new Sent(handler.sendMessage({ message: message(over) }, context));
  while (!sent.settled) {
    await clock.advance(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (sent.task === undefined) throw new Error(`No task: ${String(sent.error)}`);
  return sent.task;
}

/** An agent that answers in three ways, and an agent that keeps each conversation it reads. */
function world(options: ConversationOptions = {}) {
  const read: (readonly ConversationEntry[])[] = [];
  const execute: Execute = async (context, events) => {
    read.push(await context.conversation(options));
    const { text } = context;
    await events.artifact([{ text: `made of ${text}` }, { data: { text } }], { artifactId: `a-${text}` });
    if (text.startsWith('ask')) await events.inputRequired(`what after ${text}?`);
    else if (text === 'fail') throw new Error('no');
    else await events.complete(`done ${text}`);
  };
  const { handler, clock } = engine(execute);
  const say = (text: string, { user = ALICE, ...ids }: { taskId?: string; contextId?: string; user?: User } = {}) => {
    const context = 'taskId' in ids ? {} : { contextId: 'c' };
    return sendAndWait({ handler, clock }, { messageId: `m-${text}`, parts: [{ text }], ...context, ...ids }, user);
  };
  return { say, last: () => read.at(-1) ?? [] };
}

describe('the conversation of a context', () => {
  it('has the messages and artifacts of earlier tasks, and this message as the last', async () => {
    const { say, last } = world();
    await say('one');
    expect(printEntries(last())).toEqual(['user: one']);
    await say('two');
    expect(printEntries(last())).toEqual(['user: one', 'agent: made of one', 'agent: done one', 'user: two']);
    expect(last()[1]).toMatchObject({ artifact: { artifactId: 'a-one' }, parts: [{}, { data: { text: 'one' } }] });
    expect(last()[2]).toMatchObject({ message: { role: 'ROLE_AGENT' } });
  });

  it('has a task that is continued in one piece: artifacts stand before the last message of the agent', async () => {
    const { say, last } = world();
    const asked = await say('ask');
    await say('other');
    await say('more', { taskId: asked.id });
    expect(printEntries(last())).toEqual([
      'user: other',
      'agent: made of other',
      'agent: done other',
      'user: ask',
      'agent: made of ask',
      'agent: what after ask?',
      'user: more',
    ]);
    await say('last');
    expect(printEntries(last()).slice(3, 9)).toEqual([
      'user: ask',
      'agent: what after ask?',
      'user: more',
      'agent: made of ask',
      'agent: made of more',
      'agent: done more',
    ]);
  });

  it('has nothing of other contexts and of other callers', async () => {
    const { say, last } = world();
    await say('mine');
    await say('elsewhere', { contextId: 'other' });
    expect(printEntries(last())).toEqual(['user: elsewhere']);
    await say('of bob', { user: BOB });
    expect(printEntries(last())).toEqual(['user: of bob']);
  });

  it('keeps the newest entries within its bounds', async () => {
    const few = world({ limit: 3 });
    for (const text of ['one', 'two', 'three']) await few.say(text);
    expect(printEntries(few.last())).toEqual(['agent: made of two', 'agent: done two', 'user: three']);
    const small = world({ maxBytes: 700 });
    for (const text of ['one', 'x'.repeat(5_000), 'two', 'three']) await small.say(text);
    expect(printEntries(small.last())).toEqual(['agent: done two', 'user: three']);
    const tiny = world({ maxBytes: 1 });
    await tiny.say('long'.repeat(1_000));
    expect(tiny.last()).toHaveLength(1);
  });

  it('reads many tasks page by page', async () => {
    const { say, last } = world({ limit: 1_000 });
    for (let at = 0; at < 30; at++) await say(`t${at}`);
    expect(printEntries(last())).toHaveLength(29 * 3 + 1);
    expect(printEntries(last())[0]).toBe('user: t0');
  });

  it.each([{ limit: 0 }, { limit: 1.5 }, { maxBytes: -1 }, { maxBytes: Number.NaN }])('refuses %o', async (options) => {
    let error: unknown;
    const { handler, clock } = engine(async (context, events) => {
      error = await context.conversation(options).catch((reason: unknown) => reason);
      await events.complete('done');
    });
    await sendAndWait({ handler, clock }, {});
    expect(error).toBeInstanceOf(RangeError);
  });

  it('gives copies: what an agent changes stays as it was in the storage', async () => {
    const { handler, clock } = engine(async (context, events) => {
      for (const entry of await context.conversation()) (entry.parts[0] as { text: string }).text = 'changed';
      await events.complete('done');
    });
    const { id } = await sendAndWait({ handler, clock }, { contextId: 'c', parts: [{ text: 'one' }] });
    await sendAndWait({ handler, clock }, { messageId: 'm2', contextId: 'c', parts: [{ text: 'two' }] });
    const task = await handler.getTask({ id }, call());
    expect(task.history?.[0]?.parts).toEqual([{ text: 'one' }]);
  });
});
