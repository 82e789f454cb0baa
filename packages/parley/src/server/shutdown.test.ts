import { describe, expect, it } from 'vitest';
import {
  call,
  completes,
  type Execute,
  engine,
  message,
  Seen,
  Sent,
  send,
  tick,
  waitForAbort,
} from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { ScheduledStorage } from '../../test/scheduled-storage.js';
import { StorageError } from '../errors/storage-error.js';
import { systemClock } from '../exports/runtime.js';
import { interceptedStorage } from '../store/intercepted-storage.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { AgentExecutor } from './agent-executor.js';

describe('limits of time and shutdown', () => {
  it('a task that waits for its caller longer than the limit ends in FAILED', async () => {
    const { handler, clock } = engine((_context, events) => void events.inputRequired());
    await handler.start();
    const sent = send(handler);
    await clock.settle();
    await clock.advance(7 * 86_400_000 + 120_000);
    const task = await handler.getTask({ id: sent.task?.id ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    await handler.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('closing lets turns finish for the grace, hands over the rest and takes no more', async () => {
    const { handler, clock, storage } = engine(async (context, events) => {
      if (context.text === 'short') {
        await tick(clock, 100);
        return void (await events.complete());
      }
      await waitForAbort(context);
    });
    const short = send(handler, { parts: [{ text: 'short' }] });
    send(handler, { messageId: 'm2', parts: [{ text: 'long' }] });
    await clock.settle();
    let closed = false;
    void handler.close({ graceMs: 1_000 }).then(() => {
      closed = true;
    });
    await clock.settle();
    const refused = send(handler);
    await clock.advance(500);
    expect(short.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(refused.error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(closed).toBe(false);
    await clock.advance(1_000);
    expect(closed).toBe(true);
    const { claims } = await storage.claim({ node: 'next', leaseMs: 1, agents: ['test'], limit: 10 });
    expect(claims).toHaveLength(1);
  });

  it('gives no grace to a turn that waits for an authorization, also if it asks while the server closes', async () => {
    const { handler, storage } = engine(
      async (context) => {
        if (context.text === 'later') await late.promise;
        await context.requestAuthorization({ message: 'Log in' });
      },
      { clock: systemClock, storage: new MemoryStorage({ clock: systemClock }) },
    );
    const late = Promise.withResolvers<void>();
    await handler.sendMessage({ message: message() }, call());
    const configuration = { returnImmediately: true };
    await handler.sendMessage(
      { message: message({ messageId: 'm2', parts: [{ text: 'later' }] }), configuration },
      call(),
    );
    const closed = handler.close({ graceMs: 3_600_000 });
    late.resolve();
    await closed;
    const { claims } = await storage.claim({ node: 'next', leaseMs: 1, agents: ['test'], limit: 10 });
    expect(claims.map(({ task, handOvers }) => [task.status.state, handOvers])).toEqual([
      ['TASK_STATE_AUTH_REQUIRED', 1],
      ['TASK_STATE_AUTH_REQUIRED', 1],
    ]);
  });

  it.each([
    ['hangs', () => new Promise<never>(() => {})],
    ['fails', () => Promise.reject(new StorageError('The disk is full'))],
  ])('closing ends although the storage %s', async (_name, broken) => {
    const memory = new MemoryStorage({ clock: new ManualClock() });
    let isBroken = false;
    const storage = interceptedStorage(memory, (_call, _args, run) => (isBroken ? broken() : run()));
    const { handler, clock, logger } = engine(
      async (context, events) => {
        await waitForAbort(context);
        await events.complete().catch(() => {});
      },
      { storage },
    );
    const watching = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    isBroken = true;
    let closed = false;
    void handler.close({ graceMs: 1_000 }).then(() => {
      closed = true;
    });
    await clock.advance(10_000);
    expect(closed).toBe(true);
    expect(watching.ended).toBe(true);
    expect(logger.lines.some(({ message: text }) => text.includes('handed over'))).toBe(true);
  });
});

const SCOPED = { scope: { agent: 'test', tenant: '', owner: null } };

describe('what is on its way into the storage when the server closes', () => {
  function stage(execute: Execute, replies: 'task' | 'either' = 'task') {
    const memory = new MemoryStorage({ clock: new ManualClock() });
    const storage = new ScheduledStorage(memory, false);
    let begun = 0;
    const executor: AgentExecutor = {
      replies,
      execute(context, events) {
        begun += 1;
        return execute(context, events);
      },
    };
    const user = { dead: false, closed: false };
    const world = engine(executor, { storage: storage.view(user) });
    const drain = async () => {
      await world.clock.settle();
      while (storage.pending > 0) {
        await storage.pick(0);
        await world.clock.settle();
      }
    };
    const claims = async () => {
      const { claims } = await memory.claim({ node: 'next', leaseMs: 1, agents: ['test'], limit: 10 });
      return claims;
    };
    return { ...world, memory, storage, user, drain, claims, begun: () => begun };
  }

  it.each([
    ['answers in time', 0],
    ['answers after the server has closed', 10_000],
  ])('a message whose accept %s starts no agent, and the next process finds its turn', async (_name, stallMs) => {
    const { handler, clock, drain, claims, begun } = stage(completes);
    const sent = send(handler);
    await clock.settle();
    const closing = handler.close();
    await clock.advance(stallMs);
    await drain();
    await closing;
    expect(begun()).toBe(0);
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await claims()).toMatchObject([{ turn: 1, began: false }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['in time', 0],
    ['after the server has closed', 10_000],
  ])('a draft whose task is stored %s goes to the next process', async (_name, stallMs) => {
    const { handler, clock, drain, claims } = stage(async (context, events) => {
      await events.artifact('half');
      await waitForAbort(context);
    }, 'either');
    const sent = send(handler);
    await clock.settle();
    const closing = handler.close();
    await clock.advance(stallMs);
    await drain();
    await closing;
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    const turns = await claims();
    expect(turns).toHaveLength(1);
    // Events that the agent had published are committed if that was possible.
    expect(turns[0]?.began).toBe(stallMs === 0);
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
  });

  it('a draft that has published nothing is answered, and leaves nothing behind', async () => {
    const { handler, drain, claims, logger } = stage((context) => waitForAbort(context), 'either');
    const sent = send(handler);
    await drain();
    await handler.close();
    await drain();
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await claims()).toEqual([]);
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('a draft does not begin while its message is looked up', async () => {
    const { handler, drain, begun, clock } = stage(completes, 'either');
    const sent = new Sent(handler.sendMessage({ message: message() }, call({ user: { id: 'ann' } })));
    await clock.settle();
    const closing = handler.close();
    await drain();
    await closing;
    expect(begun()).toBe(0);
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('turns that are claimed while it closes go back', async () => {
    const { handler, storage, drain, claims, begun, clock } = stage(completes);
    const memory = storage.view({ dead: false });
    void memory.accept({
      scope: { agent: 'test', tenant: '', owner: null },
      message: message(),
      caller: { extensions: [], version: '1.0' },
      task: { create: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_SUBMITTED' } } },
      waitingLimit: 1,
    });
    await drain();
    const starting = handler.start();
    await clock.settle();
    const closing = handler.close();
    await drain();
    await Promise.all([starting, closing]);
    expect(begun()).toBe(0);
    expect(await claims()).toMatchObject([{ turn: 1, began: false }]);
  });

  it('a turn that arrives after the close goes back, also if a cancel waits for it', async () => {
    const { handler, clock, memory, storage, user, drain } = stage(completes);
    send(handler);
    await clock.settle();
    await storage.pick(0, 'late');
    const { tasks } = await memory.tasks({ ...SCOPED, orderBy: 'created', limit: 1, artifacts: false, history: false });
    const canceled = new Sent(handler.cancelTask({ id: tasks[0]?.task.id ?? '' }, call()));
    const closing = handler.close();
    await clock.advance(6_000);
    await closing;
    user.closed = true;
    storage.settle(user);
    await drain();
    await clock.advance(20_000);
    expect(canceled.settled).toBe(true);
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('a stream that is opened after it has closed ends after its snapshot', async () => {
    const { handler, drain } = stage((_context, events) => void events.inputRequired());
    const sent = send(handler);
    await drain();
    await handler.close();
    const late = new Seen(handler.subscribeToTask({ id: sent.task?.id ?? '' }, call()));
    await drain();
    expect(late.shown).toEqual(['task INPUT_REQUIRED']);
    expect(late.ended).toBe(true);
  });
});
