import assert from 'node:assert/strict';
import type { AgentExecutor } from 'parley-a2a/server';
import { afterEach, describe, expect, it } from 'vitest';
import type { CrashOptions } from './index.js';
import { assertAllProtocolInvariants, CountingIds, crashAndResume, runAgent, TestClock, testAgent } from './index.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An agent that is closed after its test. */
async function serveAgent(...[agent, options]: Parameters<typeof testAgent>) {
  const tested = await testAgent(agent, options);
  closers.push(tested.close);
  return tested;
}

const states = (events: readonly unknown[]) => events.map((event) => Object.keys(event as object)[0]);

describe('runAgent', () => {
  it('runs a function to its end, and gives its events, its task and its text', async () => {
    const run = await runAgent((prompt) => prompt.toUpperCase(), 'hello');
    expect(states(run.events)).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
    expect(run.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(run.text).toBe('HELLO');
    assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
  });

  it('takes the options of an agent', async () => {
    const options = { name: 'Shouter', agent: (prompt: string) => prompt.toUpperCase() };
    const run = await runAgent(options, 'hello', { user: { id: 'user|ada' } });
    expect(run.text).toBe('HELLO');
    const tested = await serveAgent(options);
    expect(tested.client.card.name).toBe('Shouter');
  });

  it('gives a direct message', async () => {
    const greeter: AgentExecutor = { replies: 'either', execute: (_context, events) => events.message('hello') };
    const run = await runAgent(greeter, 'hi');
    expect(run.task).toBeUndefined();
    expect(run.text).toBe('hello');
    expect(run.message?.role).toBe('ROLE_AGENT');
    assertAllProtocolInvariants(run.events);
  });

  it('gives the same ids and times in every run', async () => {
    const one = await runAgent((prompt) => prompt, 'hello');
    const other = await runAgent((prompt) => prompt, 'hello');
    expect(withoutMessageId(one.events)).toEqual(withoutMessageId(other.events));
  });

  it('takes no real time for an agent that sleeps on its clock', async () => {
    const clock = new TestClock();
    const slow = async () => {
      await clock.sleep(3_600_000 - 1);
      return `slept until ${new Date(clock.now()).toISOString()}`;
    };
    expect((await runAgent(slow, 'go', { clock })).text).toBe('slept until 2026-01-01T00:59:59.999Z');
  });

  it('waits for work that takes real time', async () => {
    const work = () => new Promise<string>((resolve) => void setTimeout(() => resolve('done'), 20));
    expect((await runAgent(work, 'go')).text).toBe('done');
  });

  it('names the last event of an agent that never ends', async () => {
    await expect(runAgent(() => new Promise<string>(() => {}), 'go', { timeoutMs: 50 })).rejects.toThrow(
      /waited 50 ms in vain for: the end of the stream \(2 events came, the last was statusUpdate TASK_STATE_WORKING\)/,
    );
  });

  it('refuses unknown options', async () => {
    const options = { colour: 'red' } as object;
    await expect(runAgent((prompt) => prompt, 'go', options)).rejects.toThrow(/testAgent.*colour/);
  });

  it('passes the user of the test', async () => {
    const options = { user: { id: 'user|ada' } };
    expect((await runAgent((_prompt, { user }) => user?.id, 'who?', options)).text).toBe('user|ada');
  });
});

/** The client makes the id of the message of the user. */
function withoutMessageId(events: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(events, (name, value: unknown) => (name === 'history' ? [] : value)));
}

describe('testAgent', () => {
  it('lets the test decide when time passes', async () => {
    const clock = new TestClock();
    const waits = async () => {
      await clock.sleep(1_000);
      return 'done';
    };
    const tested = await serveAgent(waits, { clock });
    const events = tested.collect('go');
    await events.waitForState('TASK_STATE_WORKING');
    await tested.advance(999);
    expect(events.hasEnded).toBe(false);
    await tested.advance(1);
    await events.waitForFinal();
    expect(events.text).toBe('done');
    expect(events.states.at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  it('ends a turn at its deadline, when the clock says so', async () => {
    const tested = await serveAgent(() => new Promise<string>(() => {}));
    const events = tested.collect('go');
    await events.waitForState('TASK_STATE_WORKING');
    await tested.advance(3_600_000);
    await events.waitForState('TASK_STATE_FAILED');
  });

  it('cancels', async () => {
    const patient: AgentExecutor = {
      async execute({ signal }, events) {
        await events.working();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    const tested = await serveAgent(patient);
    const events = tested.collect('go');
    await events.waitForState('TASK_STATE_WORKING');
    const id = events.byType('task')[0]?.task.id ?? '';
    expect((await tested.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    await events.waitForFinal();
  });

  it('continues a task that asks', async () => {
    const asks: AgentExecutor = {
      async execute({ text, history }, events) {
        if (history.length === 0) return events.inputRequired('which?');
        await events.artifact(`you said ${text}`);
        await events.complete();
      },
    };
    const tested = await serveAgent(asks);
    const asked = await tested.send('book');
    assert(asked.task !== undefined);
    expect(asked.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { id: taskId } = asked.task;
    const answer = await tested.send({ message: { taskId, parts: [{ text: 'the red one' }] } });
    assert(answer.task !== undefined);
    expect(answer.task.artifacts?.[0]?.parts).toEqual([{ text: 'you said the red one' }]);
  });

  it('closes while an agent still runs, and takes ids of the test', async () => {
    const tested = await testAgent(() => new Promise<string>(() => {}), { ids: new CountingIds('mine') });
    const events = tested.collect('go');
    await events.waitForState('TASK_STATE_WORKING');
    expect(events.byType('task')[0]?.task.id).toMatch(/^mine-/);
    await tested.close();
    await expect(events.waitForEnd()).rejects.toThrow();
  });
});

/** Counts to three, a chunk each, and goes on where it was. */
const counts: AgentExecutor = {
  resumable: true,
  async execute(context, events) {
    const done = (context.checkpoint as number | undefined) ?? 0;
    if (done === 0) {
      await events.working();
      await events.artifact('', { artifactId: 'count' });
    }
    for (let next = done + 1; next <= 3; next += 1) {
      await events.append('count', `${next} `);
      await context.saveCheckpoint(next);
    }
    await events.complete();
  },
};

const begins = (over: Partial<AgentExecutor> & Pick<AgentExecutor, 'execute'>): AgentExecutor => ({
  resumable: true,
  ...over,
});

describe('crashAndResume', () => {
  it('lets the process die after a checkpoint, and a second one go on from it', async () => {
    const run = await crashAndResume(counts, 'count');
    expect(run.text).toBe('1 2 3 ');
    expect(run.checkpoint).toBe(1);
    expect(states(run.firstAttempt)).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate']);
    expect(run.secondAttempt.length).toBeGreaterThan(2);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('dies exactly after the event that a predicate takes', async () => {
    const run = await crashAndResume(counts, 'count', {
      at: (event) => event.artifactUpdate !== undefined,
      compare: false,
    });
    expect(states(run.firstAttempt)).toEqual(['task', 'statusUpdate', 'artifactUpdate']);
  });

  it('takes the options of an agent', async () => {
    const run = await crashAndResume({ name: 'Counter', agent: counts }, 'count', { at: 1 });
    expect(run.text).toBe('1 2 3 ');
  });

  it('dies after so many events of the agent', async () => {
    const run = await crashAndResume(counts, 'count', { at: 1 });
    expect(states(run.firstAttempt)).toEqual(['task', 'statusUpdate']);
    expect(run.text).toBe('1 2 3 ');
  });

  it('lets nothing of the first attempt go on', async () => {
    const log: string[] = [];
    const tells = begins({
      async execute({ attempt, saveCheckpoint: _ }, events) {
        log.push(`attempt ${attempt}`);
        await events.working();
        log.push(`works ${attempt}`);
        await events.complete();
      },
    });
    await crashAndResume(tells, 'go', { at: 1, compare: false });
    expect(log).toEqual(['attempt 1', 'attempt 2', 'works 2']);
  });

  it('keeps the events in order for an agent that does not wait for them', async () => {
    const hasty = begins({
      execute(_context, events) {
        void events.working();
        void events.artifact('a', { artifactId: 'a' });
        void events.artifact('b', { artifactId: 'b' });
        void events.complete();
      },
    });
    const run = await crashAndResume(hasty, 'go', { at: 2 });
    expect(states(run.firstAttempt)).toEqual(['task', 'statusUpdate', 'artifactUpdate']);
    expect(run.text).toBe('a\nb');
  });

  it('gives the second process an agent without the memory of the first', async () => {
    const make = () => {
      const memory: string[] = [];
      return begins({
        async execute(context, events) {
          memory.push('run');
          await events.working();
          await context.saveCheckpoint('here');
          await events.complete(`runs: ${memory.length}`);
        },
      });
    };
    const { task } = await crashAndResume(make(), 'go', { restart: make });
    expect(task.status.message?.parts).toEqual([{ text: 'runs: 1' }]);
  });

  const faults: readonly (readonly [string, AgentExecutor, CrashOptions, RegExp])[] = [
    [
      'repeats what the first attempt has published',
      begins({
        async execute(context, events) {
          await events.working();
          if (context.attempt === 1) await events.artifact('', { artifactId: 'a' });
          await events.append('a', 'one ');
          await context.saveCheckpoint(1);
          await events.append('a', 'two');
          await events.complete();
        },
      }),
      {},
      /expected artifact 0 .*one two.* but got .*one one two.*doubled/,
    ],
    [
      'skips what the first attempt had not published yet',
      begins({
        async execute(context, events) {
          await events.working();
          if (context.attempt === 1) {
            await context.saveCheckpoint(1);
            await events.artifact('lost');
          }
          await events.complete();
        },
      }),
      {},
      /expected artifact 0 .*lost.* but got a lost artifact/,
    ],
    [
      'makes the same artifact again under another id',
      begins({
        async execute(_context, events) {
          await events.artifact('one');
          await events.artifact('two');
          await events.complete();
        },
      }),
      { at: 2 },
      /artifact 1 .*two.*but got .*one.*doubled/,
    ],
    [
      'is not resumable',
      { execute: counts.execute },
      { at: 2, compare: false },
      /expected the agent to run again \(resumable: true\), but got TASK_STATE_FAILED/,
    ],
    [
      'ends before the point',
      begins({ execute: (_context, events) => events.complete() }),
      {},
      /expected a crash after a checkpoint, but got the end of the turn: statusUpdate TASK_STATE_COMPLETED/,
    ],
    [
      'fails when it runs again',
      begins({
        async execute({ attempt }, events) {
          await events.working();
          if (attempt === 2) throw new Error('no memory of that');
          await events.complete();
        },
      }),
      { at: 1 },
      /expected TASK_STATE_COMPLETED, as without a crash, but got TASK_STATE_FAILED/,
    ],
  ];

  it.each(faults)('finds an agent that %s', async (_name, broken, options, text) => {
    await expect(crashAndResume(broken, 'go', options)).rejects.toThrow(text);
  });
});
