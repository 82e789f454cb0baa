import { inspect } from 'node:util';
import type { Message } from '../src/model/message.js';
import type { Part } from '../src/model/part.js';
import type { SendMessageConfiguration } from '../src/model/send-message-request.js';
import type { SendMessageResponse } from '../src/model/stream-response.js';
import type { Task } from '../src/model/task.js';
import type { AgentExecutor } from '../src/server/agent-executor.js';
import { DefaultRequestHandler, type DefaultRequestHandlerOptions } from '../src/server/default-request-handler.js';
import type { EventQueue } from '../src/server/event-queue.js';
import type { RequestContext } from '../src/server/request-context.js';
import type { ServerCallContext } from '../src/server/server-call-context.js';
import { MemoryStorage } from '../src/store/memory/memory-storage.js';
import type { StreamItem } from '../src/task/stream-item.js';
import type { LogFields, Logger } from '../src/telemetry/logger.js';
import { CountingIds } from './counting-ids.js';
import { ManualClock } from './manual-clock.js';
import { outputs } from './planted-secrets.js';

/** A log in memory. The tests search it for secrets at their end. */
export class CapturingLogger implements Logger {
  readonly lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
  debug = (message: string, fields?: LogFields) => this.#line('debug', message, fields);
  info = (message: string, fields?: LogFields) => this.#line('info', message, fields);
  warn = (message: string, fields?: LogFields) => this.#line('warn', message, fields);
  error = (message: string, fields?: LogFields) => this.#line('error', message, fields);
  #line(level: string, message: string, fields: LogFields | undefined): void {
    this.lines.push({ level, message, fields });
    outputs.read('a captured log', `${message} ${inspect(fields, { depth: 10 })}\n`);
  }
}

/** The function of an agent. */
export type Execute = (context: RequestContext, events: EventQueue) => Promise<void> | void;

/** A handler with an agent, on a clock, ids and a log of the test. */
export function engine(executor: AgentExecutor | Execute, options: Partial<DefaultRequestHandlerOptions> = {}) {
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

/** The context of a call of version 1.0. */
export function call(over: Partial<ServerCallContext> = {}): ServerCallContext {
  return { version: '1.0', extensions: [], signal: new AbortController().signal, ...over };
}

/** A valid message. */
export function message(over: Partial<Message> = {}): Message {
  return { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...over };
}

/** A request with its result so far. */
export class Sent {
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

/** A stream with its events so far. */
export class Seen {
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
      if (event.task !== undefined) return `task ${short(event.task.status.state)}`;
      if (event.message !== undefined) return 'message';
      if (event.statusUpdate !== undefined) return short(event.statusUpdate.status.state);
      return `artifact ${event.artifactUpdate.artifact.artifactId}${event.artifactUpdate.append ? '+' : ''}`;
    });
  }
}

/** A state without its prefix. */
export function short(state: string): string {
  return state.replace('TASK_STATE_', '');
}

/** The texts of parts, with `?` for other parts. */
export function textOf(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map((part) => (part.text !== undefined ? part.text : '?')).join('');
}

/** Sends a message. */
export function send(
  handler: DefaultRequestHandler,
  over: Partial<Message> = {},
  configuration?: SendMessageConfiguration,
) {
  return new Sent(handler.sendMessage({ message: message(over), ...(configuration && { configuration }) }, call()));
}

/** An agent that publishes nothing. */
export const silent: Execute = () => {};
/** An agent that completes its task at once. */
export const completes: Execute = (_context, events) => void events.complete();

/** The ids of all tasks of anonymous callers. */
export async function ids(handler: DefaultRequestHandler): Promise<readonly string[]> {
  const { tasks } = await handler.listTasks({}, call());
  return tasks.map(({ id }) => id);
}

/** The id of the task that a stream began with. */
export function idOf(seen: Seen): string {
  const event = seen.items[0]?.event;
  return event && event.task !== undefined ? event.task.id : '';
}

/** Resolves when the signal of the agent is aborted. */
export function waitForAbort({ signal }: RequestContext): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Resolves after a time of the clock. */
export function tick(clock: ManualClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
