import { describe, expect, it } from 'vitest';
import {
  call,
  type Execute,
  engine,
  idOf,
  message,
  Seen,
  send,
  silent,
  textOf,
  waitForAbort,
} from '../../test/engine.js';
import { TurnAbortedError } from '../exports/server.js';

describe('a turn', () => {
  it('begins with SUBMITTED and WORKING whatever the agent does, and answers from the commit that ends it (Spec §3.2.2)', async () => {
    const { handler, clock } = engine(async (context, events) => {
      await events.artifact(`you said ${context.text}`, { artifactId: 'a' });
      await events.complete('done');
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(seen.shown).toEqual(['task SUBMITTED', 'WORKING', 'artifact a', 'COMPLETED']);
    expect(seen.seqs).toEqual([1, 2, 3, 4]);
    expect(seen.ended).toBe(true);
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('commits no second WORKING when the agent says it first', async () => {
    const { handler, clock } = engine((_context, events) => {
      events.working('on it');
      events.complete();
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(seen.shown).toEqual(['task SUBMITTED', 'WORKING', 'COMPLETED']);
  });

  it('goes from SUBMITTED to REJECTED without WORKING', async () => {
    const { handler, clock } = engine((_context, events) => void events.reject('no'));
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_REJECTED');
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(seen.shown).toEqual(['task SUBMITTED', 'REJECTED']);
  });

  it('is WORKING while a slow agent has said nothing yet', async () => {
    const { handler, clock } = engine((context) => waitForAbort(context));
    const sent = send(handler, {}, { returnImmediately: true });
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_SUBMITTED');
    const got = await handler.getTask({ id: sent.task?.id ?? '' }, call());
    expect(got.status.state).toBe('TASK_STATE_WORKING');
  });

  it('that returns without a final state ends in FAILED, saying so to the caller and the cause to the log (Spec §4.1.3)', async () => {
    const { handler, clock, logger } = engine(silent);
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(sent.task?.status.message?.parts)).toBe('The agent ended without a result.');
    expect(logger.lines.some(({ level }) => level === 'warn')).toBe(true);
  });

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('secret cause');
      },
    ],
    [
      'rejects later',
      async () => {
        await Promise.resolve();
        throw new Error('secret cause');
      },
    ],
  ] satisfies [string, Execute][])(
    'whose agent %s ends in FAILED without its text on the wire',
    async (_name, execute) => {
      const { handler, clock, logger } = engine(execute);
      const sent = send(handler);
      await clock.settle();
      expect(sent.task?.status.state).toBe('TASK_STATE_FAILED');
      expect(JSON.stringify(sent.task)).not.toContain('secret');
      expect(String(logger.lines.find(({ level }) => level === 'error')?.fields?.error)).toContain('secret cause');
    },
  );

  it.each([
    ['two contents in a part', { artifactUpdate: { artifact: { artifactId: 'a', parts: [{ text: 'x', url: 'y' }] } } }],
    ['an empty artifact', { artifactUpdate: { artifact: { artifactId: 'a', parts: [] } } }],
    ['a foreign task id', { statusUpdate: { taskId: 'other', status: { state: 'TASK_STATE_WORKING' } } }],
    ['a user message', { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }],
    [
      'a function',
      { statusUpdate: { status: { state: 'TASK_STATE_WORKING', message: { parts: [{ text: () => 'x' }] } } } },
    ],
    ['no event at all', 'garbage'],
  ])('that publishes %s fails that task and nothing else', async (_name, event) => {
    const { handler, clock, logger } = engine((context, events) => {
      if (context.text === 'good') return void events.complete();
      events.publish(event as never);
      events.complete();
    });
    const bad = send(handler);
    const good = send(handler, { messageId: 'm2', parts: [{ text: 'good' }] });
    await clock.settle();
    expect(bad.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(bad.task?.status.message?.parts)).toBe('The agent gave an invalid response.');
    expect(good.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(logger.lines.some(({ message: text }) => text === 'agent published an invalid event')).toBe(true);
  });

  it('keeps what was published, not what the agent makes of its objects afterwards', async () => {
    const metadata = { k: 'before' };
    const extensions = ['before'];
    const part = { text: 'before', metadata };
    const parts = [part];
    const { handler, clock } = engine((_context, events) => {
      events.artifact(parts, { artifactId: 'parts' });
      events.artifact(part, { artifactId: 'part' });
      events.artifact('text', { artifactId: 'about', name: 'n', metadata, extensions });
      events.append('about', 'more', { metadata, lastChunk: true });
      events.publish({ artifactUpdate: { artifact: { artifactId: 'raw', parts } } });
      events.working({ messageId: 'w', parts, metadata }, { metadata });
      events.working({ messageId: 'w2', parts, metadata });
      events.complete('text', { metadata });
      metadata.k = 'after';
      part.text = 'after';
      extensions.push('after');
      parts.push({ text: 'more', metadata });
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    expect(seen.shown.at(-1)).toBe('COMPLETED');
    const shown = JSON.stringify(seen.items.map(({ event }) => event));
    expect(shown).toContain('before');
    expect(shown).not.toContain('after');
    const seenParts = [{ text: 'before', metadata: { k: 'before' } }];
    const [first] = seen.items;
    const id = first && first.event.task !== undefined ? first.event.task.id : '';
    const { artifacts } = await handler.getTask({ id }, call());
    expect(artifacts).toEqual([
      { artifactId: 'parts', parts: seenParts },
      { artifactId: 'part', parts: seenParts },
      {
        artifactId: 'about',
        name: 'n',
        metadata: { k: 'before' },
        extensions: ['before'],
        parts: [{ text: 'text' }, { text: 'more' }],
      },
      { artifactId: 'raw', parts: seenParts },
    ]);
  });

  it('leaves out what an agent left undefined', async () => {
    const { handler, clock } = engine((_context, events) => {
      const about = { artifactId: 'a', name: undefined } as unknown as { artifactId: string };
      events.artifact('text', about);
      events.complete();
    });
    const sent = send(handler);
    await clock.settle();
    expect(Object.keys(sent.task?.artifacts?.[0] ?? {})).toEqual(['artifactId', 'parts']);
  });

  it('turns a direct message on a task into COMPLETED with that message (Spec §3.1.1)', async () => {
    const { handler, clock } = engine((_context, events) => void events.message('hello'));
    const sent = send(handler);
    await clock.settle();
    expect(sent.reply).toBeUndefined();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(sent.task?.status.message?.parts)).toBe('hello');
    expect(sent.task?.status.message?.taskId).toBe(sent.task?.id);
  });

  it('that passes its deadline ends in FAILED', async () => {
    const { handler, clock } = engine((context) => waitForAbort(context), { limits: { turnDeadlineMs: 1_000 } });
    const sent = send(handler);
    await clock.advance(999);
    expect(sent.settled).toBe(false);
    await clock.advance(1);
    expect(sent.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['canceled', async ({ handler }: ReturnType<typeof engine>, id: string) => void handler.cancelTask({ id }, call())],
    ['deadline', ({ clock }: ReturnType<typeof engine>) => clock.advance(1_000)],
    ['closing', async ({ handler }: ReturnType<typeof engine>) => void handler.close()],
  ])('tells its agent by a typed reason that it was %s', async (reason, stop) => {
    let told: unknown;
    const world = engine(
      async (context) => {
        await waitForAbort(context);
        told = context.signal.reason;
      },
      { limits: { turnDeadlineMs: 1_000 } },
    );
    const stream = new Seen(world.handler.sendStreamingMessage({ message: message() }, call()));
    await world.clock.settle();
    await stop(world, idOf(stream));
    await world.clock.settle();
    expect(told).toBeInstanceOf(TurnAbortedError);
    expect(told).toMatchObject({ reason });
  });

  it('accepts nothing after its end, and tells the agent', async () => {
    const refused: unknown[] = [];
    const { handler, clock } = engine(async (_context, events) => {
      await events.complete();
      await events.artifact('late').catch((error: unknown) => refused.push(error));
    });
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.artifacts).toBeUndefined();
    expect(refused).toHaveLength(1);
  });

  it('never has a status time before the previous one', async () => {
    const { handler, clock } = engine(async (_context, events) => {
      await events.working();
      Object.defineProperty(clock, 'now', { value: () => Date.UTC(2020, 0, 1) });
      await events.complete();
    });
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.status.timestamp).toBe('2026-01-01T00:00:00.000Z');
  });

  it('makes an agent that outruns the store wait', async () => {
    let published = 0;
    const { handler, clock } = engine(
      async (_context, events) => {
        for (; published < 100; published += 1) await events.artifact('x', { artifactId: 'a' });
        await events.complete();
      },
      { limits: { bufferEvents: 10 } },
    );
    const sent = send(handler);
    for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
    expect(published).toBeLessThan(12);
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});
