import { describe, expect, it } from 'vitest';
import {
  call,
  type Execute,
  engine,
  idOf,
  message,
  Seen,
  Sent,
  send,
  textOf,
  tick,
  waitForAbort,
} from '../../test/engine.js';

describe('a conversation', () => {
  const asks: Execute = (context, events) =>
    void (context.text === 'done' ? events.complete('bye') : events.inputRequired(`what after ${context.text}?`));

  it('answers at INPUT_REQUIRED and goes on with the next message (Spec §3.2.2, §3.4.3)', async () => {
    const { handler, clock } = engine(asks);
    const first = send(handler, { parts: [{ text: 'one' }] });
    await clock.settle();
    expect(first.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const taskId = first.task?.id ?? '';
    const second = send(handler, { messageId: 'm2', taskId, parts: [{ text: 'two' }] });
    await clock.settle();
    expect(textOf(second.task?.status.message?.parts)).toBe('what after two?');
    const third = send(handler, { messageId: 'm3', taskId, parts: [{ text: 'done' }] });
    await clock.settle();
    expect(third.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(third.task?.history?.map(({ parts }) => textOf(parts))).toEqual([
      'one',
      'what after one?',
      'two',
      'what after two?',
      'done',
    ]);
    expect(new Set(third.task?.history?.map(({ contextId }) => contextId)).size).toBe(1);
  });

  it('shows an agent its own question as the last message before the one it answers', async () => {
    const seen: string[][] = [];
    const { handler, clock } = engine(async (context, events) => {
      seen.push(context.history.map(({ parts }) => textOf(parts)));
      await events.working('thinking');
      await (context.text === 'done' ? events.complete('bye') : events.inputRequired(`what after ${context.text}?`));
    });
    const first = send(handler, { parts: [{ text: 'one' }] });
    await clock.settle();
    for (const text of ['two', 'done']) {
      send(handler, { messageId: text, taskId: first.task?.id ?? '', parts: [{ text }] });
      await clock.settle();
    }
    const before = ['one', 'what after one?', 'two', 'what after two?'];
    expect(seen).toEqual([[], before.slice(0, 2), before]);
    const task = await handler.getTask({ id: first.task?.id ?? '' }, call());
    expect(task.history?.map(({ parts }) => textOf(parts))).toEqual([...before, 'done']);
  });

  it.each(['it goes on by itself', 'it is canceled'])('keeps the question of AUTH_REQUIRED when %s', async (how) => {
    const { handler, clock } = engine(async (context, events) => {
      await events.authRequired('log in there');
      await Promise.race([tick(clock, 100), waitForAbort(context)]);
      if (!context.signal.aborted) await events.complete();
    });
    const sent = send(handler);
    await clock.settle();
    const id = sent.task?.id ?? '';
    if (how === 'it is canceled') void handler.cancelTask({ id }, call());
    await clock.advance(200);
    const { history } = await handler.getTask({ id }, call());
    expect(history?.map(({ parts }) => textOf(parts))).toEqual(['hi', 'log in there']);
  });

  it('shows the stream of a message that waits for authorization how the task is canceled', async () => {
    const { handler, clock } = engine((_context, events) => events.authRequired('log in there'));
    const stream = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    void handler.cancelTask({ id: idOf(stream) }, call());
    await clock.settle();
    expect(stream.error).toBeUndefined();
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'AUTH_REQUIRED', 'CANCELED']);
  });

  it('ends the stream of a message at INPUT_REQUIRED while a subscription goes on to the end (Spec §3.1.2, §3.5.2)', async () => {
    const { handler, clock } = engine(asks);
    const stream = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(stream.ended).toBe(true);
    const taskId = idOf(stream);
    const subscription = new Seen(handler.subscribeToTask({ id: taskId }, call()));
    await clock.settle();
    expect(subscription.shown).toEqual(['task INPUT_REQUIRED']);
    send(handler, { messageId: 'm2', taskId, parts: [{ text: 'done' }] });
    await clock.settle();
    expect(subscription.shown).toEqual(['task INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(subscription.seqs).toEqual([3, 4, 5]);
    expect(subscription.ended).toBe(true);
  });

  it('shows a message on an existing task as the task first, then what its turn does (Spec §3.1.2)', async () => {
    const { handler, clock } = engine(asks);
    const first = send(handler);
    await clock.settle();
    const stream = new Seen(
      handler.sendStreamingMessage(
        { message: message({ messageId: 'm2', taskId: first.task?.id ?? '', parts: [{ text: 'done' }] }) },
        call(),
      ),
    );
    await clock.settle();
    // The task in the answer has the first record of the turn: its old question is no answer to the message.
    expect(stream.shown).toEqual(['task WORKING', 'WORKING', 'COMPLETED']);
    expect(stream.items[0]?.event).not.toHaveProperty('task.status.message');
    expect(stream.seqs).toEqual([3, 4, 5]);
    expect(stream.ended).toBe(true);
  });

  it('shows no event twice to a message that comes while its task waits for authorization', async () => {
    const granted = Promise.withResolvers<void>();
    const { handler, clock } = engine(async (context, events) => {
      if (context.text === 'done') return events.complete('bye');
      await events.artifact('a', { artifactId: 'x', lastChunk: false });
      await events.authRequired('log in there');
      await granted.promise;
      await events.append('x', 'b', { lastChunk: true });
      await events.complete();
    });
    const first = send(handler, {}, { returnImmediately: true });
    await clock.settle();
    const taskId = first.task?.id ?? '';
    const stream = new Seen(
      handler.sendStreamingMessage(
        { message: message({ messageId: 'm2', taskId, parts: [{ text: 'done' }] }) },
        call(),
      ),
    );
    await clock.settle();
    granted.resolve();
    await clock.settle();
    const texts = stream.items.flatMap(({ event }) => {
      if (event.task !== undefined) return event.task.artifacts?.map(({ parts }) => textOf(parts)) ?? [];
      return event.artifactUpdate !== undefined ? [textOf(event.artifactUpdate.artifact.parts)] : [];
    });
    expect(texts).toEqual(['a', 'b']);
  });

  it('answers at once with the task as its turn has begun, not with its old question (Spec §3.2.2)', async () => {
    const { handler, clock } = engine(async (context, events) => {
      if (context.history.length === 0) return events.inputRequired('Which day?');
      await waitForAbort(context);
    });
    const first = send(handler);
    await clock.settle();
    const taskId = first.task?.id ?? '';
    const second = send(handler, { messageId: 'm2', taskId }, { returnImmediately: true });
    await clock.settle();
    expect(second.task?.status).toMatchObject({ state: 'TASK_STATE_WORKING' });
    expect(second.task?.status).not.toHaveProperty('message');
    expect(second.task?.history?.map(({ messageId }) => messageId).at(-1)).toBe('m2');
    expect(clock.pendingTimers).toBe(1);
  });

  it('runs one turn at a time; messages wait their turn in order', async () => {
    const log: string[] = [];
    const { handler, clock } = engine(async (context, events) => {
      log.push(`start ${context.text}`);
      await events.working();
      await tick(clock, 100);
      log.push(`end ${context.text}`);
      await (context.text === 'c' ? events.complete() : events.inputRequired());
    });
    const a = send(handler, { messageId: 'a', parts: [{ text: 'a' }] }, { returnImmediately: true });
    await clock.settle();
    const taskId = a.task?.id ?? '';
    const b = send(handler, { messageId: 'b', taskId, parts: [{ text: 'b' }] });
    const c = send(handler, { messageId: 'c', taskId, parts: [{ text: 'c' }] });
    await clock.advance(150);
    expect(b.settled).toBe(false);
    await clock.advance(1_000);
    expect(log).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c']);
    expect(b.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(c.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('refuses senders that still wait when the task ends, and more than may wait', async () => {
    const { handler, clock } = engine(
      async (_context, events) => {
        await tick(clock, 100);
        await events.complete();
      },
      { limits: { waitingMessages: 1 } },
    );
    const first = send(handler, {}, { returnImmediately: true });
    await clock.settle();
    const taskId = first.task?.id ?? '';
    const waits = send(handler, { messageId: 'm2', taskId });
    const stream = new Seen(handler.sendStreamingMessage({ message: message({ messageId: 'm4', taskId }) }, call()));
    await clock.settle();
    const tooMany = send(handler, { messageId: 'm3', taskId });
    await clock.settle();
    expect(tooMany.error).toMatchObject({ code: 'RESOURCE_EXHAUSTED', details: { retryAfterMs: 1_000 } });
    expect(stream.error).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await clock.advance(200);
    expect(waits.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    const after = send(handler, { messageId: 'm5', taskId });
    await clock.settle();
    expect(after.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  it('aborts an agent that does not return after asking for input; the state stays', async () => {
    let reason: unknown;
    const { handler, clock } = engine(async (context, events) => {
      if (context.message.messageId === 'm2') return void (await events.complete());
      await events.inputRequired('more?');
      context.signal.addEventListener('abort', () => {
        reason = context.signal.reason;
      });
      await new Promise(() => {});
    });
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const next = send(handler, { messageId: 'm2', taskId: sent.task?.id ?? '' });
    await clock.settle();
    expect(next.settled).toBe(false);
    await clock.advance(5_000);
    expect(reason).toBeInstanceOf(Error);
    expect(next.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('stays open at AUTH_REQUIRED for streams, answers blocking senders, and may go on by itself (Spec §3.1.2, §7.6.1)', async () => {
    const { handler, clock } = engine(async (_context, events) => {
      await events.authRequired('log in there');
      await tick(clock, 100);
      await events.complete();
    });
    const sent = send(handler);
    const stream = new Seen(handler.sendStreamingMessage({ message: message({ messageId: 'm2' }) }, call()));
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(stream.ended).toBe(false);
    await clock.advance(200);
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'AUTH_REQUIRED', 'COMPLETED']);
    expect(stream.ended).toBe(true);
  });

  it('refuses unknown tasks, another context, roles of agents, and hides tasks of others (Spec §3.4.2, §3.4.3, §13.1)', async () => {
    const { handler, clock } = engine(asks);
    const first = send(handler, { contextId: 'c1' });
    await clock.settle();
    const taskId = first.task?.id ?? '';
    const cases = [
      send(handler, { taskId: 'nope' }),
      send(handler, { taskId, contextId: 'c2' }),
      send(handler, { role: 'ROLE_AGENT' }),
      new Sent(handler.sendMessage({ message: message({ taskId }) }, call({ user: { id: 'eve' } }))),
      new Sent(handler.sendMessage({ tenant: 'other', message: message({ taskId }) }, call())),
    ];
    await clock.settle();
    expect(cases.map(({ error }) => (error as { code: string }).code)).toEqual([
      'TASK_NOT_FOUND',
      'INVALID_PARAMS',
      'INVALID_PARAMS',
      'TASK_NOT_FOUND',
      'TASK_NOT_FOUND',
    ]);
    await expect(handler.getTask({ id: taskId }, call({ user: { id: 'eve' } }))).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    });
  });
});
