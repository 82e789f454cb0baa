import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../../../test/support/counting-ids.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { SendMessageConfiguration } from '../model/send-message-request.js';
import type { SendMessageResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { StreamItem } from '../task/stream-item.js';
import type { LogFields, Logger } from '../telemetry/logger.js';
import type { AgentExecutor } from './agent-executor.js';
import { DefaultRequestHandler, type DefaultRequestHandlerOptions } from './default-request-handler.js';
import type { EventQueue } from './event-queue.js';
import type { RequestContext } from './request-context.js';
import type { ServerCallContext } from './server-call-context.js';

class CapturingLogger implements Logger {
  readonly lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
  debug = (message: string, fields?: LogFields) => this.#line('debug', message, fields);
  info = (message: string, fields?: LogFields) => this.#line('info', message, fields);
  warn = (message: string, fields?: LogFields) => this.#line('warn', message, fields);
  error = (message: string, fields?: LogFields) => this.#line('error', message, fields);
  #line(level: string, message: string, fields: LogFields | undefined): void {
    this.lines.push({ level, message, fields });
  }
}

type Execute = (context: RequestContext, events: EventQueue) => Promise<void> | void;

function engine(executor: AgentExecutor | Execute, options: Partial<DefaultRequestHandlerOptions> = {}) {
  const clock = new ManualClock();
  const logger = new CapturingLogger();
  const storage = options.storage ?? new MemoryStorage({ clock });
  const handler = new DefaultRequestHandler({
    agent: 'test',
    executor: typeof executor === 'function' ? { execute: executor } : executor,
    storage,
    clock,
    ids: new CountingIds(),
    logger,
    ...options,
  });
  return { handler, clock, logger, storage };
}

function call(over: Partial<ServerCallContext> = {}): ServerCallContext {
  return { version: '1.0', extensions: [], signal: new AbortController().signal, ...over };
}

function message(over: Partial<Message> = {}): Message {
  return { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...over };
}

/** A request, kept with what came of it so far. */
class Sent {
  task: Task | undefined;
  reply: Message | undefined;
  error: unknown;
  settled = false;
  constructor(promise: Promise<SendMessageResponse | Task>) {
    promise.then(
      (response) => {
        this.settled = true;
        if ('message' in response && !('status' in response)) this.reply = response.message;
        else this.task = 'task' in response ? response.task : (response as Task);
      },
      (error: unknown) => {
        this.settled = true;
        this.error = error;
      },
    );
  }
}

/** A stream, kept with what it has shown. */
class Seen {
  readonly items: StreamItem[] = [];
  ended = false;
  error: unknown;
  constructor(stream: AsyncIterable<StreamItem>) {
    void this.#read(stream);
  }
  async #read(stream: AsyncIterable<StreamItem>): Promise<void> {
    try {
      for await (const item of stream) this.items.push(item);
      this.ended = true;
    } catch (error) {
      this.error = error;
      this.ended = true;
    }
  }
  get seqs(): (number | undefined)[] {
    return this.items.map(({ seq }) => seq);
  }
  get shown(): string[] {
    return this.items.map(({ event }) => {
      if ('task' in event) return `task ${short(event.task.status.state)}`;
      if ('message' in event) return 'message';
      if ('statusUpdate' in event) return short(event.statusUpdate.status.state);
      return `artifact ${event.artifactUpdate.artifact.artifactId}${event.artifactUpdate.append ? '+' : ''}`;
    });
  }
}

function short(state: string): string {
  return state.replace('TASK_STATE_', '');
}

function textOf(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map((part) => ('text' in part ? part.text : '?')).join('');
}

function send(handler: DefaultRequestHandler, over: Partial<Message> = {}, configuration?: SendMessageConfiguration) {
  return new Sent(handler.sendMessage({ message: message(over), ...(configuration && { configuration }) }, call()));
}

const silent: Execute = () => {};
const completes: Execute = (_context, events) => void events.complete();

describe('a turn', () => {
  it('begins with SUBMITTED and WORKING whatever the agent does, and answers from the commit that ends it (SEND-2)', async () => {
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
    const { handler, clock } = engine((context) => aborted(context));
    const sent = send(handler, {}, { returnImmediately: true });
    await clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_SUBMITTED');
    const got = await handler.getTask({ id: sent.task?.id ?? '' }, call());
    expect(got.status.state).toBe('TASK_STATE_WORKING');
  });

  it('that returns without a final state ends in FAILED, saying so to the caller and the cause to the log (LIFE-14)', async () => {
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
    const { handler, clock } = engine((_context, events) => {
      const parts = [{ text: 'before' }];
      events.artifact(parts, { artifactId: 'a' });
      if (parts[0]) parts[0].text = 'after';
      parts.push({ text: 'more' });
      events.complete();
    });
    const sent = send(handler);
    await clock.settle();
    expect(sent.task?.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'before' }] }]);
  });

  it('turns a direct message on a task into COMPLETED with that message (LIFE-4)', async () => {
    const { handler, clock } = engine((_context, events) => void events.message('hello'));
    const sent = send(handler);
    await clock.settle();
    expect(sent.reply).toBeUndefined();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(sent.task?.status.message?.parts)).toBe('hello');
    expect(sent.task?.status.message?.taskId).toBe(sent.task?.id);
  });

  it('that passes its deadline ends in FAILED', async () => {
    const { handler, clock } = engine((context) => aborted(context), { limits: { turnDeadlineMs: 1_000 } });
    const sent = send(handler);
    await clock.advance(999);
    expect(sent.settled).toBe(false);
    await clock.advance(1);
    expect(sent.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(clock.pendingTimers).toBe(0);
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

describe('a conversation', () => {
  const asks: Execute = (context, events) =>
    void (context.text === 'done' ? events.complete('bye') : events.inputRequired(`what after ${context.text}?`));

  it('answers at INPUT_REQUIRED and goes on with the next message (SEND-2, SEND-5, LIFE-6)', async () => {
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

  it('ends the stream of a message at INPUT_REQUIRED while a subscription goes on to the end (STR-5, STR-14)', async () => {
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

  it('shows a message on an existing task as the task first, then what its turn does (STR-2)', async () => {
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
    expect(stream.shown).toEqual(['task INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(stream.seqs).toEqual([3, 4, 5]);
    expect(stream.ended).toBe(true);
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

  it('stays open at AUTH_REQUIRED for streams, answers blocking senders, and may go on by itself (STR-5, ITA-3)', async () => {
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

  it('refuses unknown tasks, another context, roles of agents, and hides tasks of others (ID-2, ID-6, SCOPE-2)', async () => {
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

  it('makes a task of anything else, with SUBMITTED first (STR-3)', async () => {
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
    expect(refused.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION', message: 'not this' });
    expect(failed.task?.status.state).toBe('TASK_STATE_FAILED');
    expect(handler.load.runningTurns).toBe(0);
  });

  it('waits with returnImmediately for the first event (SEND-4)', async () => {
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
});

describe('cancel', () => {
  it('aborts a running agent and answers with the metadata merged into the task (CAN-1, CAN-6)', async () => {
    const { handler, clock } = engine(async (context, events) => {
      await events.working('waiting');
      await aborted(context);
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

  it('is forced on an agent that ignores it, after the grace; what it writes later is refused (CAN-7)', async () => {
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
      await aborted(context);
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
      execute: (context) => aborted(context),
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
  });

  it('says not found for tasks that are not the caller’s (CAN-5)', async () => {
    const { handler } = engine(completes);
    await expect(handler.cancelTask({ id: 'x' }, call())).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });
});

describe('a subscription', () => {
  const worker: Execute = async (context, events) => {
    await events.working();
    await aborted(context);
  };

  async function running() {
    const parts = engine(worker);
    send(parts.handler);
    await parts.clock.settle();
    const [taskId] = await ids(parts.handler);
    return { ...parts, taskId: taskId ?? '' };
  }

  async function finished() {
    const parts = engine(async (_context, events) => {
      await events.artifact('x', { artifactId: 'a' });
      await events.complete();
    });
    const sent = send(parts.handler);
    await parts.clock.settle();
    return { ...parts, taskId: sent.task?.id ?? '' };
  }

  it('is refused on a finished or unknown task (STR-9, STR-10)', async () => {
    const { handler, clock, taskId } = await finished();
    const ended = new Seen(handler.subscribeToTask({ id: taskId }, call()));
    const unknown = new Seen(handler.subscribeToTask({ id: 'x' }, call()));
    await clock.settle();
    expect(ended.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    expect(unknown.error).toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(handler.load.watchedTasks).toBe(0);
  });

  it('shows the same events in the same order to everyone; one that leaves disturbs nobody (STR-7)', async () => {
    const { handler, clock, taskId } = await running();
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
    const { handler, clock, taskId } = await finished();
    const seen = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId })));
    await clock.settle();
    expect(seen.shown).toEqual(shown);
    expect(seen.seqs).toEqual(seqs);
    expect(seen.ended).toBe(true);
    expect(handler.load.watchedTasks).toBe(0);
  });

  it('with the last sequence number of a finished task is UnsupportedOperation', async () => {
    const { handler, clock, taskId } = await finished();
    const seen = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId: '4' })));
    await clock.settle();
    expect(seen.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  it('with Last-Event-ID on a running task replays, then goes on live', async () => {
    const { handler, clock, taskId } = await running();
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
    const { handler, clock, taskId, storage } = await finished();
    await storage.sweep({ now: clock.now(), finishedBefore: 0, tailsBefore: clock.now() + 1, limit: 100 });
    const seen = new Seen(handler.subscribeToTask({ id: taskId }, call({ lastEventId: '1' })));
    await clock.settle();
    expect(seen.shown).toEqual(['task COMPLETED']);
    expect(seen.ended).toBe(true);
  });

  it('of a reader that falls behind is fed from the log, without gap or repetition (STR-17)', async () => {
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
        await aborted(context);
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

describe('after a crash', () => {
  let restarts = 0;

  /** A second engine on the same storage, after the first one's leases have ended. */
  async function restart(
    executor: AgentExecutor | Execute,
    storage: ReturnType<typeof engine>['storage'],
    clock: ManualClock,
  ) {
    restarts += 1;
    const handler = new DefaultRequestHandler({
      agent: 'test',
      executor: typeof executor === 'function' ? { execute: executor } : executor,
      storage,
      clock,
      ids: new CountingIds(`process-${restarts}-`),
      logger: new CapturingLogger(),
    });
    await clock.advance(15_001);
    await handler.start();
    await clock.settle();
    return handler;
  }

  const hangs: Execute = async (context, events) => {
    await events.working();
    await events.artifact('partial', { artifactId: 'a' });
    await aborted(context);
  };

  it('a turn that had begun ends in FAILED saying why, and the old process can write nothing more', async () => {
    let zombie: EventQueue | undefined;
    const { handler, clock, storage } = engine(async (context, events) => {
      zombie = events;
      await hangs(context, events);
    });
    send(handler);
    await clock.settle();
    const [taskId] = await ids(handler);
    const second = await restart(completes, storage, clock);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message?.parts)).toContain('cannot resume');
    await zombie?.complete().catch(() => {});
    await clock.settle();
    expect((await second.getTask({ id: taskId ?? '' }, call())).status.state).toBe('TASK_STATE_FAILED');
    expect(handler.load.runningTurns).toBe(0);
  });

  it('a resumable agent runs again with its attempt, events and checkpoint', async () => {
    const { handler, clock, storage } = engine(async (context, events) => {
      await events.working();
      await events.artifact('partial', { artifactId: 'a' });
      await context.saveCheckpoint({ step: 3 });
      await aborted(context);
    });
    send(handler);
    await clock.settle();
    const seen: unknown[] = [];
    const second = await restart(
      {
        resumable: true,
        async execute(context, events) {
          seen.push(context.attempt, context.checkpoint, (await context.previousEvents()).length, context.text);
          await events.artifact('whole', { artifactId: 'a' });
          await events.complete();
        },
      },
      storage,
      clock,
    );
    const [taskId] = await ids(second);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(seen).toEqual([2, { step: 3 }, 2, 'hi']);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'whole' }] }]);
    expect(task.history).toHaveLength(1);
  });

  it('gives up after three attempts', async () => {
    const executor: AgentExecutor = { resumable: true, execute: hangs };
    const { handler, clock, storage } = engine(executor);
    send(handler);
    await clock.settle();
    await restart(executor, storage, clock);
    const third = await restart(executor, storage, clock);
    expect(third.load.runningTurns).toBe(1);
    const fourth = await restart(executor, storage, clock);
    const [taskId] = await ids(fourth);
    const task = await fourth.getTask({ id: taskId ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message?.parts)).toContain('each time');
  });

  it('a message that waited runs, and a task that waited for input goes on waiting', async () => {
    const { handler, clock, storage } = engine(async (context, events) => {
      await events.working();
      if (context.text === 'ask') return void (await events.inputRequired());
      await aborted(context);
    });
    const asked = send(handler, { parts: [{ text: 'ask' }] });
    await clock.settle();
    const running = send(handler, { messageId: 'm2', taskId: asked.task?.id ?? '', parts: [{ text: 'run' }] });
    const idle = send(handler, { messageId: 'm3', parts: [{ text: 'ask' }] });
    await clock.settle();
    send(handler, { messageId: 'm4', taskId: idle.task?.id ?? '', parts: [{ text: 'ask' }] });
    await clock.settle();
    expect(running.settled).toBe(false);
    const second = await restart(completes, storage, clock);
    expect((await second.getTask({ id: asked.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_FAILED');
    expect((await second.getTask({ id: idle.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});

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

async function ids(handler: DefaultRequestHandler): Promise<readonly string[]> {
  const { tasks } = await handler.listTasks({}, call());
  return tasks.map(({ id }) => id);
}

function idOf(seen: Seen): string {
  const event = seen.items[0]?.event;
  return event && 'task' in event ? event.task.id : '';
}

/** What an agent does that works until it is told to stop. */
function aborted(context: RequestContext): Promise<void> {
  return new Promise((resolve) => context.signal.addEventListener('abort', () => resolve(), { once: true }));
}

function tick(clock: ManualClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
