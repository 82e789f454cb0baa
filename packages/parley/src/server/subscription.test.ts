import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, ids, message, Seen, send, waitForAbort } from '../../test/engine.js';

describe('a subscription', () => {
  const worker: Execute = async (context, events) => {
    await events.working();
    await waitForAbort(context);
  };

  async function startTask() {
    const parts = engine(worker);
    send(parts.handler);
    await parts.clock.settle();
    const [taskId] = await ids(parts.handler);
    return { ...parts, taskId: taskId ?? '' };
  }

  async function finishTask() {
    const parts = engine(async (_context, events) => {
      await events.artifact('x', { artifactId: 'a' });
      await events.complete();
    });
    const sent = send(parts.handler);
    await parts.clock.settle();
    return { ...parts, taskId: sent.task?.id ?? '' };
  }

  it('is refused on a finished or unknown task (Spec §3.1.6)', async () => {
    const { handler, clock, taskId } = await finishTask();
    const ended = new Seen(handler.subscribeToTask({ id: taskId }, call()));
    const unknown = new Seen(handler.subscribeToTask({ id: 'x' }, call()));
    await clock.settle();
    expect(ended.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    expect(unknown.error).toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(handler.load.watchedTasks).toBe(0);
  });

  it('shows the same events in the same order to everyone; one that leaves disturbs nobody (Spec §3.5.2)', async () => {
    const { handler, clock, taskId } = await startTask();
    const leaver = handler.subscribeToTask({ id: taskId }, call())[Symbol.asyncIterator]();
    await leaver.next();
    const [a, b] = [0, 1].map(() => new Seen(handler.subscribeToTask({ id: taskId }, call())));
    await clock.settle();
    await leaver.return?.();
    void handler.cancelTask({ id: taskId }, call());
    await clock.settle();
    expect(a?.shown).toEqual(['task WORKING', 'CANCELED']);
    expect(b?.items.map(({ event }) => event)).toEqual(a?.items.map(({ event }) => event));
    expect(handler.load.watchedTasks).toBe(0);
  });

  it.each([
    ['0', ['task SUBMITTED', 'WORKING', 'artifact a', 'COMPLETED'], [1, 2, 3, 4]],
    ['2', ['artifact a', 'COMPLETED'], [3, 4]],
    ['9', ['task COMPLETED'], [4]],
    ['x', ['task COMPLETED'], [4]],
    ['', ['task COMPLETED'], [4]],
  ])('with Last-Event-ID %j on a finished task replays what is missing', async (lastEventId, shown, seqs) => {
    const { handler, clock, taskId } = await finishTask();
    const seen = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId })));
    await clock.settle();
    expect(seen.shown).toEqual(shown);
    expect(seen.seqs).toEqual(seqs);
    expect(seen.ended).toBe(true);
    expect(handler.load.watchedTasks).toBe(0);
  });

  it('with the last sequence number of a finished task is UnsupportedOperation', async () => {
    const { handler, clock, taskId } = await finishTask();
    const seen = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId: '4' })));
    await clock.settle();
    expect(seen.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  it('with Last-Event-ID on a running task replays, then goes on live', async () => {
    const { handler, clock, taskId } = await startTask();
    const behind = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId: '1' })));
    const current = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId: '2' })));
    await clock.settle();
    expect(behind.shown).toEqual(['WORKING']);
    expect(current.shown).toEqual([]);
    void handler.cancelTask({ id: taskId }, call());
    await clock.settle();
    expect(behind.seqs).toEqual([2, 3]);
    expect(current.seqs).toEqual([3]);
  });

  it('below the retained floor begins again with a snapshot', async () => {
    const { handler, clock, taskId, storage } = await finishTask();
    await storage.sweep({ taskRetentionMs: clock.now(), eventLogMs: -1, limit: 100 });
    const seen = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId: '1' })));
    await clock.settle();
    expect(seen.shown).toEqual(['task COMPLETED']);
    expect(seen.ended).toBe(true);
  });

  it('of a reader that falls behind is fed from the log, without gap or repetition (Spec §3.5.2)', async () => {
    const { handler, clock } = engine(
      async (_context, events) => {
        const id = await events.artifact('0', { artifactId: 'a' });
        for (let chunk = 1; chunk < 200; chunk += 1) await events.append(id, `${chunk}`.padEnd(50));
        await events.complete();
      },
      { limits: { readerBufferBytes: 1_000, bufferEvents: 8 } },
    );
    const stream = handler.sendStreamingMessage({ message: message() }, call());
    const iterator = stream[Symbol.asyncIterator]();
    const seqs: (number | undefined)[] = [(await iterator.next()).value?.seq];
    await clock.settle();
    for (let item = await iterator.next(); !item.done; item = await iterator.next()) seqs.push(item.value?.seq);
    expect(seqs).toEqual(Array.from({ length: 203 }, (_, index) => index + 1));
    expect(handler.load.watchedTasks).toBe(0);
  });

  it('that takes nothing for too long is dropped', async () => {
    const { handler, clock } = engine(
      async (context, events) => {
        for (let chunk = 0; chunk < 100; chunk += 1) await events.artifact('x'.repeat(100), { artifactId: 'a' });
        await waitForAbort(context);
      },
      { limits: { readerBufferBytes: 1_000 } },
    );
    const iterator = handler.sendStreamingMessage({ message: message() }, call())[Symbol.asyncIterator]();
    await iterator.next();
    await clock.settle();
    expect(handler.load.watchedTasks).toBe(1);
    await clock.advance(30_000);
    expect(handler.load.watchedTasks).toBe(0);
    expect((await iterator.next()).done).toBe(true);
  });
});
