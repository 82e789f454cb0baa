import { describe, expect, it } from 'vitest';
import { call, completes, engine, message, Seen, Sent, send, tick } from '../../../../test/support/engine.js';

describe('idempotent sends', () => {
  const user = { id: 'ann' };

  it('give the first outcome to a repeat, and refuse other content under the same id', async () => {
    let runs = 0;
    const { handler, clock } = engine((_context, events) => {
      runs += 1;
      events.complete(`run ${runs}`);
    });
    const request = { message: message() };
    const first = new Sent(handler.sendMessage(request, call({ user })));
    await clock.settle();
    const again = new Sent(handler.sendMessage({ message: message() }, call({ user })));
    const other = new Sent(handler.sendMessage({ message: message({ parts: [{ text: 'else' }] }) }, call({ user })));
    const stream = new Seen(handler.sendStreamingMessage(request, call({ user })));
    await clock.settle();
    expect(runs).toBe(1);
    expect(again.task).toEqual(first.task);
    expect(other.error).toMatchObject({
      code: 'INVALID_PARAMS',
      details: { violations: [{ field: 'message.messageId' }] },
    });
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'COMPLETED']);
  });

  it('attach a repeat to the first while it runs', async () => {
    const { handler, clock } = engine(async (_context, events) => {
      await tick(clock, 100);
      await events.complete();
    });
    const first = new Sent(handler.sendMessage({ message: message() }, call({ user })));
    await clock.settle();
    const again = new Sent(handler.sendMessage({ message: message() }, call({ user })));
    await clock.settle();
    expect(again.settled).toBe(false);
    await clock.advance(100);
    expect(again.task?.id).toBe(first.task?.id);
    expect(again.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('hold for direct messages too, also while the first is being made', async () => {
    let runs = 0;
    const { handler, clock } = engine({
      replies: 'either',
      async execute(_context, events) {
        runs += 1;
        await tick(clock, 10);
        await events.message(`reply ${runs}`);
      },
    });
    const sends = [0, 1].map(() => new Sent(handler.sendMessage({ message: message() }, call({ user }))));
    await clock.advance(20);
    const later = new Sent(handler.sendMessage({ message: message() }, call({ user })));
    await clock.settle();
    expect(runs).toBe(1);
    expect(sends[1]?.reply).toEqual(sends[0]?.reply);
    expect(later.reply).toEqual(sends[0]?.reply);
  });

  it('are off for anonymous callers unless configured', async () => {
    const off = engine(completes);
    const [a, b] = [send(off.handler), send(off.handler)];
    await off.clock.settle();
    expect(a.task?.id).not.toBe(b.task?.id);
    const on = engine(completes, { idempotency: { anonymous: true } });
    const [c, d] = [send(on.handler), send(on.handler)];
    await on.clock.settle();
    expect(c.task?.id).toBe(d.task?.id);
  });
});
