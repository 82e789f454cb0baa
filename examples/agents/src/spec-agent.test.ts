import type { Task } from 'parley-a2a';
import { assertAllProtocolInvariants, runAgent, TestClock } from 'parley-a2a-testing';
import { describe, expect, it } from 'vitest';
import { type Published, runTurn, ScriptedClock } from '../test/recorded-turn.js';
import { CARD_DEFAULTS } from './card-defaults.js';
import { specAgent } from './spec-agent.js';

const KEYWORDS = [
  'message-only',
  'task-lifecycle',
  'task-failure',
  'task-cancel',
  'multi-turn',
  'streaming',
  'long-running',
  'data-types',
];

const agent = (clock = new ScriptedClock()) => specAgent({ clock, streamingTimeoutMs: 2000 }).agent;
const outline = (published: Published[]) =>
  published.map((one) => ('status' in one ? one.status : 'artifact' in one ? one.artifact : 'message'));
const waiting: Task = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_INPUT_REQUIRED' },
  artifacts: [{ artifactId: 'turn-1', parts: [{ text: 'x' }] }],
};

describe('spec agent', () => {
  it('lists the eight keywords as skills, and a ninth skill in the extended card', () => {
    const { skills, extendedAgentCard } = specAgent({ clock: new ScriptedClock(), streamingTimeoutMs: 2000 });
    const modes = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };
    const about = { name: 'x', description: 'x', supportedInterfaces: [], capabilities: {} };
    const card = { ...CARD_DEFAULTS, ...about, ...modes, skills };
    expect(skills.map(({ id }) => id)).toEqual(KEYWORDS);
    expect(extendedAgentCard(card).skills.map(({ id }) => id)).toEqual([...KEYWORDS, 'admin-status']);
  });

  it.each([
    ['message-only', [], ['message']],
    ['task-lifecycle', [300], ['WORKING', 'result', 'COMPLETED']],
    ['task-failure', [], ['WORKING', 'FAILED']],
    ['task-cancel', [30_000], ['WORKING', 'COMPLETED']],
    ['multi-turn', [], ['turn-1', 'INPUT_REQUIRED']],
    ['streaming', [500, 500, 500], ['WORKING', ...Array(4).fill('stream-result'), 'COMPLETED']],
    [
      'long-running',
      [2000, 2000, 2000, 2000, 2000],
      [...[1, 2, 3, 4, 5].flatMap((n) => ['WORKING', `step-${n}`]), 'COMPLETED'],
    ],
    [
      'data-types',
      [],
      ['WORKING', 'text-artifact', 'data-artifact', 'file-artifact', 'multi-part-artifact', 'COMPLETED'],
    ],
    ['anything else', [], ['message']],
  ])('plays %s', async (keyword, pauses, events) => {
    const clock = new ScriptedClock();
    expect(outline(await runTurn(agent(clock), { text: `${keyword} please` }))).toEqual(events);
    expect(clock.pauses).toEqual(pauses);
  });

  it.each([...KEYWORDS, 'anything else'])('keeps all rules of the protocol with %s', async (keyword) => {
    const clock = new TestClock();
    const pause = (ms: number, signal: AbortSignal) => clock.sleep(ms, { signal }).then(() => true);
    const tools = { clock: { now: () => new Date(clock.now()), pause }, streamingTimeoutMs: 2000 };
    const { events } = await runAgent(specAgent(tools), `${keyword} please`, { clock });
    assertAllProtocolInvariants(events);
  });

  it.each(['  TASK-Failure now', 'task-failure'])('finds the keyword in %j', async (text) => {
    expect(outline(await runTurn(agent(), { text }))).toEqual(['WORKING', 'FAILED']);
  });

  it('looks for the keyword in the first text part only', async () => {
    const parts = [{ data: 1 }, { text: 'message-only a' }, { text: 'task-failure' }];
    expect(await runTurn(agent(), { parts })).toEqual([{ message: '[message-only] You said: message-only a' }]);
  });

  it('says exactly what its contract says', async () => {
    expect(await runTurn(agent(), { text: 'task-lifecycle a' })).toContainEqual(
      expect.objectContaining({ parts: [{ text: '[task-lifecycle] Processed: task-lifecycle a' }] }),
    );
    expect((await runTurn(agent(), { text: 'task-failure' }))[1]).toEqual({
      status: 'FAILED',
      says: '[task-failure] Simulated failure: this task was designed to fail for testing purposes.',
    });
    expect((await runTurn(agent(), { text: 'task-cancel' }))[0]).toEqual({
      status: 'WORKING',
      says: '[task-cancel] Working... send a cancel request to this task.',
    });
    expect((await runTurn(agent(), { text: 'long-running' }))[2]).toEqual({
      status: 'WORKING',
      says: '[long-running] Step 2/5: Processing...',
    });
  });

  it('streams one artifact: appended from the second chunk on, the fourth is the last', async () => {
    const chunks = (await runTurn(agent(), { text: 'streaming' })).filter((one) => 'artifact' in one);
    expect(chunks.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ]);
    for (const [index, { parts }] of chunks.entries()) {
      expect(parts).toEqual([{ text: expect.stringContaining(`[streaming] Chunk ${index + 1}: `) }]);
    }
  });

  it.each([
    ['task-lifecycle', 1, 1],
    ['task-cancel', 1, 1],
    ['streaming', 2, 3],
    ['long-running', 3, 5],
  ])('publishes nothing more once %s is canceled', async (text, atPause, events) => {
    expect(await runTurn(agent(new ScriptedClock(atPause)), { text })).toHaveLength(events);
  });

  it('takes a message to a task as part of its conversation, whatever keyword it begins with', async () => {
    expect(outline(await runTurn(agent(), { text: 'task-failure', task: waiting }))).toEqual([
      'turn-2',
      'INPUT_REQUIRED',
    ]);
    expect(outline(await runTurn(agent(), { text: 'I am Done', task: waiting }))).toEqual(['final', 'COMPLETED']);
  });

  it('obeys the message id before it looks at the text', async () => {
    expect(await runTurn(agent(), { text: 'task-failure', messageId: 'tck-complete-task-1' })).toEqual([
      { status: 'COMPLETED', says: 'Hello from TCK' },
    ]);
  });

  it('explains the keywords to whoever uses none', async () => {
    const [answer] = await runTurn(agent(), { text: 'help' });
    const lines = answer !== undefined && 'message' in answer ? (answer.message ?? '').split('\n') : [];
    expect(lines.slice(1).map((line) => line.split(':')[0])).toEqual(KEYWORDS);
  });
});
