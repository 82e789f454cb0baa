import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, message, Seen, send, tick } from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { AgentExecutor } from './agent-executor.js';

describe('an agent that replies either way', () => {
  const either = (execute: Execute): AgentExecutor => ({ execute, replies: 'either' });

  it('answers with a message of which nothing is stored', async () => {
    const { handler, clock, storage } = engine(
      either((context, events) => void events.message(`Echo: ${context.text}`)),
    );
    const sent = send(handler, { contextId: 'c' });
    const stream = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(sent.reply).toMatchObject({ role: 'ROLE_AGENT', contextId: 'c', parts: [{ text: 'Echo: hi' }] });
    expect(sent.reply).not.toHaveProperty('taskId');
    expect(stream.shown).toEqual(['message']);
    expect(stream.seqs).toEqual([undefined]);
    const scope = { agent: 'test', tenant: '', owner: null };
    const page = await storage.tasks({ scope, orderBy: 'status', limit: 1, artifacts: false, history: false });
    expect(page.total).toBe(0);
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('makes a task of anything else, with SUBMITTED first (Spec §3.1.2)', async () => {
    const { handler, clock } = engine(
      either(async (_context, events) => {
        await events.artifact('x', { artifactId: 'a' });
        await events.append('a', 'y');
        await events.complete();
      }),
    );
    const stream = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'artifact a', 'artifact a+', 'COMPLETED']);
    expect(stream.seqs).toEqual([1, 2, 3, 4, 5]);
    expect(handler.load.runningTurns).toBe(0);
  });

  it('refuses a message with an A2AError thrown before the first event; other errors are a FAILED task', async () => {
    const { UnsupportedOperationError } = await import('../errors/spec-errors.js');
    const { handler, clock } = engine(
      either((context) => {
        throw context.text === 'a2a' ? new UnsupportedOperationError('not this') : new Error('secret');
      }),
    );
    const refused = send(handler, { parts: [{ text: 'a2a' }] });
    const failed = send(handler);
    await clock.settle();
    expect(refused.error).toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
      message: 'This operation is not supported: not this',
    });
    expect(failed.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(handler.load.runningTurns).toBe(0);
  });

  it('waits with returnImmediately for the first event (Spec §3.2.2)', async () => {
    const { handler, clock } = engine(
      either(async (_context, events) => {
        await tick(clock, 50);
        await events.working();
        await tick(clock, 50);
        await events.complete();
      }),
    );
    const sent = send(handler, {}, { returnImmediately: true });
    await clock.settle();
    expect(sent.settled).toBe(false);
    await clock.advance(60);
    expect(sent.task?.status.state).toBe('TASK_STATE_SUBMITTED');
    await clock.advance(60);
    expect((await handler.getTask({ id: sent.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('frees its task for the answer where it asked before the task was stored, and never returns', async () => {
    const stored = Promise.withResolvers<void>();
    class SlowStorage extends MemoryStorage {
      override accept(...parts: Parameters<MemoryStorage['accept']>) {
        return stored.promise.then(() => super.accept(...parts));
      }
    }
    const { handler, clock } = engine(
      either(async (_context, events) => {
        await events.inputRequired('Which one?');
        await new Promise(() => {});
      }),
      { storage: new SlowStorage({ clock: new ManualClock() }) },
    );
    const sent = send(handler);
    // Longer than the grace period of an agent.
    await clock.advance(6_000);
    stored.resolve();
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(handler.load.runningTurns).toBe(0);
  });
});
