import { describe, expect, it } from 'vitest';
import {
  call,
  completes,
  engine,
  idOf,
  ids,
  message,
  Seen,
  Sent,
  send,
  textOf,
  tick,
  waitForAbort,
} from '../../test/engine.js';

describe('cancel', () => {
  it('aborts a running agent and answers with the metadata merged into the task (Spec §3.1.5, §3.5.2)', async () => {
    const { handler, clock } = engine(async (context, events) => {
      await events.working('waiting');
      await waitForAbort(context);
    });
    const stream = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    const canceled = new Sent(handler.cancelTask({ id: idOf(stream), metadata: { reason: 'r', by: 'me' } }, call()));
    await clock.settle();
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(canceled.task?.metadata).toEqual({ reason: 'r', by: 'me' });
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'CANCELED']);
    expect(stream.ended).toBe(true);
    expect((await handler.getTask({ id: idOf(stream) }, call())).metadata).toEqual({ reason: 'r', by: 'me' });
    await expect(handler.cancelTask({ id: idOf(stream) }, call())).rejects.toMatchObject({
      code: 'TASK_NOT_CANCELABLE',
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is forced on an agent that ignores it, after the grace; what it writes later is refused (Spec §3.1.1)', async () => {
    let late: Promise<unknown> | undefined;
    const { handler, clock } = engine(async (_context, events) => {
      await events.working();
      await tick(clock, 60_000);
      late = events.complete().catch((error: unknown) => error);
      await late;
    });
    const sent = send(handler);
    await clock.settle();
    const [taskId] = await ids(handler);
    const canceled = new Sent(handler.cancelTask({ id: taskId ?? '' }, call()));
    await clock.advance(4_999);
    expect(canceled.settled).toBe(false);
    await clock.advance(1);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
    await clock.advance(60_000);
    expect(await late).toBeInstanceOf(Error);
    expect((await handler.getTask({ id: taskId ?? '' }, call())).status.state).toBe('TASK_STATE_CANCELED');
    expect(clock.pendingTimers).toBe(0);
  });

  it('loses against an agent that completes within the grace', async () => {
    const { handler, clock } = engine(async (context, events) => {
      await events.working();
      await waitForAbort(context);
      await events.complete('just in time');
    });
    send(handler);
    await clock.settle();
    const [taskId] = await ids(handler);
    const canceled = new Sent(handler.cancelTask({ id: taskId ?? '' }, call()));
    await clock.settle();
    expect(canceled.error).toMatchObject({ code: 'TASK_NOT_CANCELABLE' });
  });

  it('lets the agent end the task its own way through cancel()', async () => {
    const { handler, clock } = engine({
      execute: (context) => waitForAbort(context),
      cancel: (_context, events) => void events.cancel('stopped cleanly'),
    });
    send(handler);
    await clock.settle();
    const [taskId] = await ids(handler);
    const canceled = new Sent(handler.cancelTask({ id: taskId ?? '', metadata: { why: 1 } }, call()));
    await clock.settle();
    expect(textOf(canceled.task?.status.message?.parts)).toBe('stopped cleanly');
    expect(canceled.task?.metadata).toEqual({ why: 1 });
  });

  it('cancels a task that waits at once, and its subscribers see it', async () => {
    const { handler, clock } = engine((_context, events) => void events.inputRequired());
    const sent = send(handler);
    await clock.settle();
    const subscription = new Seen(handler.subscribeToTask({ id: sent.task?.id ?? '' }, call()));
    await clock.settle();
    const canceled = new Sent(handler.cancelTask({ id: sent.task?.id ?? '' }, call()));
    await clock.settle();
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(subscription.shown).toEqual(['task INPUT_REQUIRED', 'CANCELED']);
    expect(subscription.ended).toBe(true);
    const log = new Seen(handler.subscribeToTask({ id: sent.task?.id ?? '' }, call({ lastEventId: '0' })));
    await clock.settle();
    expect(log.shown).toEqual(['task SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'CANCELED']);
  });

  it('says not found for tasks that are not the caller’s (Spec §3.1.5)', async () => {
    const { handler } = engine(completes);
    await expect(handler.cancelTask({ id: 'x' }, call())).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });
});
