import { describe, expect, it } from 'vitest';
import { call, completes, engine, message, Seen, Sent, send, textOf, tick, waitForAbort } from '../../test/engine.js';

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

  it('take a repeat without the empty members of the first for the same message', async () => {
    const { handler, clock } = engine(completes);
    const full = { metadata: {}, extensions: [], referenceTaskIds: [] };
    const part = { text: 'hi', filename: '', mediaType: '', metadata: {} };
    const sends = [message({ ...full, parts: [part] }), message(), message({ metadata: { k: 1 } })].map(
      (each) => new Sent(handler.sendMessage({ message: each }, call({ user }))),
    );
    await clock.settle();
    const [first, same, other] = sends;
    expect(first?.task).toBeDefined();
    expect(same?.task).toEqual(first?.task);
    expect(other?.error).toMatchObject({ code: 'INVALID_PARAMS' });
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

  it('answer a blocking repeat with the task as the turn of its message left it', async () => {
    const { handler, clock } = engine(async (context, events) => {
      await events.artifact(context.text, { artifactId: context.text });
      await (context.text === 'three' ? events.complete('bye') : events.inputRequired(`after ${context.text}?`));
    });
    const sent: Sent[] = [];
    const request = (text: string) => ({
      message: message({ messageId: text, parts: [{ text }], ...(sent[0]?.task && { taskId: sent[0].task.id }) }),
    });
    const requests = [];
    for (const text of ['one', 'two', 'three']) {
      requests.push(request(text));
      sent.push(new Sent(handler.sendMessage(requests.at(-1) ?? request(text), call({ user }))));
      await clock.settle();
    }
    const repeats = requests.map((again) => new Sent(handler.sendMessage(again, call({ user }))));
    await clock.settle();
    expect(repeats.map(({ task }) => task)).toEqual(sent.map(({ task }) => task));
    expect(repeats.map(({ task }) => task?.artifacts?.length)).toEqual([1, 2, 3]);
  });

  it('answer no blocking repeat before the turn of its message, whatever earlier ones wait for', async () => {
    const { handler, clock } = engine(async (context, events) => {
      if (context.text === 'two') return events.authRequired('log in for two');
      await events.authRequired('log in for one');
      await tick(clock, 100);
      await events.inputRequired('after one?');
    });
    const first = new Sent(handler.sendMessage({ message: message() }, call({ user })));
    await clock.settle();
    const second = {
      message: message({ messageId: 'm2', taskId: first.task?.id ?? '', parts: [{ text: 'two' }] }),
    };
    const sends = [0, 1, 2].map(() => new Sent(handler.sendMessage(second, call({ user }))));
    await clock.settle();
    // The first call returns AUTH_REQUIRED, because its turn waits behind that of the question. Repeats wait for the
    // turn.
    expect(sends.map(({ settled }) => settled)).toEqual([true, false, false]);
    await clock.advance(200);
    expect(sends.map(({ task }) => textOf(task?.status.message?.parts))).toEqual([
      'log in for one',
      'log in for two',
      'log in for two',
    ]);
  });

  it('answer a blocking repeat from the task where its log is gone, unless the task has gone on', async () => {
    const { handler, clock, storage } = engine(async (context, events) => {
      await (context.text === 'more' ? events.complete() : events.inputRequired());
    });
    const request = { message: message() };
    const first = new Sent(handler.sendMessage(request, call({ user })));
    await clock.settle();
    const more = { message: message({ messageId: 'm2', taskId: first.task?.id ?? '', parts: [{ text: 'more' }] }) };
    void handler.sendMessage(more, call({ user }));
    await clock.settle();
    await storage.sweep({ taskRetentionMs: clock.now(), eventLogMs: -1, limit: 100 });
    const [lost, kept] = [request, more].map((again) => new Sent(handler.sendMessage(again, call({ user }))));
    await clock.settle();
    expect(lost?.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    expect(kept?.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('are answered when the server shuts down, but not with a task that is still at work', async () => {
    const { handler, clock } = engine(async (context) => {
      await waitForAbort(context);
      await new Promise(() => {});
    });
    const [first, again] = [0, 1].map(() => new Sent(handler.sendMessage({ message: message() }, call({ user }))));
    await clock.settle();
    void handler.close();
    await clock.advance(10_000);
    expect([first?.error, again?.error]).toMatchObject([{ code: 'UNAVAILABLE' }, { code: 'UNAVAILABLE' }]);
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
