import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, idOf, message, Seen, send } from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { Append } from '../store/task-storage.js';
import { eventBytes, taskBytes } from '../task/event-bytes.js';
import type { EngineLimits } from './engine-limits.js';

const THOUSAND = 'x'.repeat(1_000);

/** The stream of one message to an agent under limits, and its task. */
async function runStream(execute: Execute, limits: Partial<EngineLimits> = {}) {
  const { handler, clock } = engine(execute, { limits });
  const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
  await clock.settle();
  const task = await handler.getTask({ id: idOf(seen) }, call());
  return { items: seen.items, task, state: task.status.state };
}

/** An agent with so many artifacts. */
const artifacts =
  (count: number): Execute =>
  async (_context, events) => {
    for (let number = 0; number < count; number++) await events.artifact(THOUSAND, { artifactId: `a${number}` });
    await events.complete();
  };

describe('`taskBytes`', () => {
  it('is the size that a task may reach: one byte less fails it', async () => {
    const { items, task } = await runStream(artifacts(21));
    const last = items.findLast(({ event }) => event.artifactUpdate !== undefined)?.event;
    if (last === undefined || last.message !== undefined) throw new Error('The agent has published no artifact');
    // The artifact before the last one is held back until then, so it counts as an event.
    const limit = taskBytes({ ...task, artifacts: task.artifacts?.slice(0, 19) ?? [] }) + 2 * eventBytes(last);
    const fitting = await runStream(artifacts(21), { taskBytes: limit });
    expect(fitting.state).toBe('TASK_STATE_COMPLETED');
    const beyond = await runStream(artifacts(21), { taskBytes: limit - 1 });
    expect(beyond.state).toBe('TASK_STATE_FAILED');
    expect(beyond.task.artifacts).toHaveLength(20);
  });

  it('counts an artifact that waits for the next event', async () => {
    const { state } = await runStream(
      async (_context, events) => {
        await events.artifact(THOUSAND.repeat(3), { artifactId: 'first' });
        await events.artifact(THOUSAND.repeat(3), { artifactId: 'second' });
        await events.complete();
      },
      { taskBytes: 5_000 },
    );
    expect(state).toBe('TASK_STATE_FAILED');
  });

  it('counts what earlier turns wrote', async () => {
    const { handler, clock } = engine(
      async (_context, events) => {
        await events.artifact(THOUSAND.repeat(10));
        await events.inputRequired();
      },
      { limits: { taskBytes: 25_000 } },
    );
    const first = send(handler);
    await clock.settle();
    const states = [first.task?.status.state];
    for (const messageId of ['m2', 'm3']) {
      const { id: taskId = '' } = first.task ?? {};
      const next = send(handler, { messageId, taskId });
      await clock.settle();
      states.push(next.task?.status.state);
    }
    expect(states).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_FAILED']);
  });

  it('does not count an artifact that was replaced', async () => {
    const { state } = await runStream(
      async (_context, events) => {
        for (let round = 0; round < 50; round++) await events.artifact(THOUSAND, { artifactId: 'one' });
        await events.complete();
      },
      { taskBytes: 5_000 },
    );
    expect(state).toBe('TASK_STATE_COMPLETED');
  });
});

it('an agent that does not wait fails with one event more than `overrunEvents`', async () => {
  const publishTimes =
    (count: number): Execute =>
    (_context, events) => {
      for (let number = 0; number < count; number++)
        void events.artifact('x', { artifactId: `a${number}` }).catch(() => {});
      void events.complete().catch(() => {});
    };
  const states = [];
  for (const count of [9, 10, 11]) states.push((await runStream(publishTimes(count), { overrunEvents: 10 })).state);
  expect(states).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_FAILED']);
});

describe('snapshots of a long artifact', () => {
  it('come after so many bytes as `snapshotLogBytes`, then after so many as the last one has', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const snapshots: number[] = [];
    const append = storage.append.bind(storage);
    storage.append = (change: Append) => {
      const [part] = change.snapshot?.artifacts?.[0]?.parts ?? [];
      if (part?.text !== undefined) snapshots.push(part.text.length / THOUSAND.length);
      return append(change);
    };
    const { handler } = engine(
      async (_context, events) => {
        const artifactId = await events.artifact(THOUSAND);
        for (let chunk = 1; chunk < 200; chunk++) {
          await events.append(artifactId, THOUSAND);
          await events.flush();
        }
        await events.complete();
      },
      { storage, clock, limits: { snapshotLogBytes: 10_000 } },
    );
    send(handler);
    await clock.settle();
    // The answer has the last one.
    expect(snapshots.pop()).toBe(200);
    let last = 0;
    for (const snapshot of snapshots) {
      const since = snapshot - last;
      expect(since).toBeGreaterThan(Math.max(10, last) * 0.6);
      expect(since).toBeLessThan(Math.max(10, last) * 1.1);
      last = snapshot;
    }
    expect(snapshots.length).toBeGreaterThan(4);
  });
});
