import { describe, expect, it } from 'vitest';
import { aborted, call, engine, send, tick } from '../../../../test/support/engine.js';

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
});
