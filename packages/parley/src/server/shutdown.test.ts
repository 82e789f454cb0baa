import { describe, expect, it } from 'vitest';
import { aborted, call, engine, message, Seen, send, tick } from '../../../../test/support/engine.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { StorageError } from '../errors/storage-error.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';

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
      await aborted(context);
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
    const claims = await storage.claim({ node: 'next', leaseMs: 1, agents: ['test'], limit: 10 });
    expect(claims).toHaveLength(1);
  });

  it.each([
    ['hangs', () => new Promise<never>(() => {})],
    ['fails', () => Promise.reject(new StorageError('The disk is full'))],
  ])('closing ends although the storage %s', async (_name, broken) => {
    const memory = new MemoryStorage({ clock: new ManualClock() });
    let isBroken = false;
    const storage = new Proxy(memory, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => (isBroken ? broken() : Reflect.apply(member, target, args));
      },
    });
    const { handler, clock, logger } = engine(
      async (context, events) => {
        await aborted(context);
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
