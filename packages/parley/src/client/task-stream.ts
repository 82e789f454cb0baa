import { A2AError, type ErrorCode } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type { TaskState } from '../model/task-state.js';
import type { RunningTimer } from '../runtime/equal-timers.js';
import { backoffMs, LONGEST_RETRY_AFTER_MS, pause, waitAfter } from './backoff.js';
import { type CallDeadline, eitherSignal } from './call-deadline.js';
import type { ClientRuntime } from './client-runtime.js';
import type { EventBatches, ReceivedEvent } from './client-transport.js';
import { isTransient } from './send-retries.js';
import { StreamProgress, type StreamSpan } from './stream-progress.js';

/** How streams are kept going. */
export interface ResumeOptions {
  /** Attempts in a row that bring nothing new before the stream fails; default 10, none with 0. */
  readonly attempts?: number;
  /** The first wait, which doubles each time; default 250 ms. */
  readonly firstMs?: number;
  /** The longest wait; default 10 s. */
  readonly longestMs?: number;
  /** The longest `Retry-After` of the agent that is waited for, instead of a shorter wait; default 60 s. */
  readonly longestRetryAfterMs?: number;
  /**
   * After this time without a sign of life a connection counts as broken. Default: 60 s with agents that declare the
   * extension for resumable streams, which give such signs; none with others, of whom that is not known.
   */
  readonly silenceMs?: number;
}

/** How a stream reaches its agent. */
export interface StreamSource {
  readonly span: StreamSpan;
  /** Whether `open` may be called again although the first call may have arrived. */
  readonly repeatable: boolean;
  /** What is known before it begins. */
  readonly taskId: string | undefined;
  readonly lastEventId: string | undefined;
  /** Whether the agent goes on after `Last-Event-ID`. */
  readonly resumable: boolean;
  readonly options: ResumeOptions;
  readonly runtime: ClientRuntime;
  /** The time limit of the whole stream; asked for once, when it begins. */
  deadline(): CallDeadline;
  /**
   * True if a task that asks for input has had the turn of the message. Undefined where that goes without saying: where
   * the message began the task, or the agent is not known to keep all messages.
   */
  readonly hasTaken: ((task: Task) => boolean) | undefined;
  /** Puts what stands around calls around the events. */
  around(events: AsyncIterable<StreamResponse>): AsyncIterable<StreamResponse>;
  /** The first connection. */
  open(signal: AbortSignal): EventBatches;
  /** A connection to a task that is known. */
  subscribe(id: string, place: SubscriptionPlace): EventBatches;
  /** The task as it is. */
  task(id: string, signal: AbortSignal | undefined): Promise<Task>;
}

/** From where on a subscription is wanted. */
export interface SubscriptionPlace {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
}

const SILENCE_MS = 60_000;
const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
const ATTEMPTS = 10;
const nothing = (): void => {};
/** Answers to a subscription that say no more than that there is nothing to follow. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_PARAMS',
  'TASK_NOT_FOUND',
]);

/**
 * The events of a message's turn or of a task, over as many connections as it takes. Iterate it once; leaving the loop
 * lets the connection go, and the task goes on. With an agent that numbers its events, each of them comes once, in
 * order; with any other, a `task` event after a break stands for what was missed: a task event always means that the
 * task now is as it says. Between events it tells how far it has come.
 */
export class TaskStream implements AsyncIterableIterator<StreamResponse, undefined> {
  readonly #source: StreamSource;
  readonly #progress: StreamProgress;
  /** How long a connection may show no sign of life; undefined for ever. */
  readonly #silenceMs: number | undefined;
  /** What the caller reads: the events as they come, or what interceptors make of them. */
  #events: AsyncIterator<StreamResponse> | undefined;
  /** What the connection in use brings. */
  #incoming: AsyncIterator<readonly ReceivedEvent[], undefined> | undefined;
  /** What arrived together, and how much of it the caller has. */
  #arrived: readonly ReceivedEvent[] = [];
  #taken = 0;
  /** What is being waited for. */
  #pending: Promise<unknown> | undefined;
  /** Connections in a row that brought nothing new, and those that brought nothing at all. */
  #quiet = 0;
  #faults = 0;
  #deadline: CallDeadline | undefined;
  #connection: AbortController | undefined;
  /** Since when an event is waited for; undefined while the caller has the last one. */
  #waitsSince: number | undefined;
  #stopTimer: (() => void) | undefined;
  #closing: RunningTimer | undefined;
  /** Of the connection in use: whether it has brought anything, and whether the task was looked at since the one before. */
  #hasNews = false;
  #looked = false;
  #breaks = 0;
  /** The attempt that was announced, and has not been answered yet. */
  #announced = 0;
  #closed = false;

  constructor(source: StreamSource) {
    this.#source = source;
    this.#progress = new StreamProgress(source.span, source);
    this.#silenceMs = source.options.silenceMs ?? (source.resumable ? SILENCE_MS : undefined);
  }

  /** The task, once the agent has named it. */
  get taskId(): string | undefined {
    return this.#progress.taskId;
  }

  get contextId(): string | undefined {
    return this.#progress.contextId;
  }

  /** The state of the task as the last event left it. */
  get state(): TaskState | undefined {
    return this.#progress.state;
  }

  /** The id of the last event that had one: `subscribeToTask` goes on after it. */
  get lastEventId(): string | undefined {
    return this.#progress.lastEventId;
  }

  /** How often the connection was lost. */
  get breaks(): number {
    return this.#breaks;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamResponse, undefined>> {
    this.#events ??= this.#source.around(this.#direct())[Symbol.asyncIterator]();
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<StreamResponse, undefined>> {
    this.#closed = true;
    this.#disconnect();
    await this.#events?.return?.();
    return END;
  }

  /** The events without what stands around calls. */
  #direct(): AsyncIterableIterator<StreamResponse, undefined> {
    const next = (): Promise<IteratorResult<StreamResponse, undefined>> =>
      this.#pending === undefined ? this.#next() : this.#pending.then(next, next);
    const events: AsyncIterableIterator<StreamResponse, undefined> = {
      next,
      return: async () => {
        await this.#pending?.catch(nothing);
        await this.#incoming?.return?.();
        this.#end();
        return END;
      },
      [Symbol.asyncIterator]: () => events,
    };
    return events;
  }

  /** Of what has arrived, the next event costs no waiting: streams may bring thousands of them a second. */
  #next(): Promise<IteratorResult<StreamResponse, undefined>> {
    const event = this.#take();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    const more = this.#more();
    this.#pending = more;
    return more;
  }

  #take(): StreamResponse | undefined {
    for (;;) {
      const received = this.#arrived[this.#taken];
      if (received === undefined) return undefined;
      this.#taken += 1;
      if (!this.#progress.take(received)) continue;
      this.#quiet = 0;
      return received.event;
    }
  }

  /** The next event that is still to come, over whatever connection. */
  async #more(): Promise<IteratorResult<StreamResponse, undefined>> {
    try {
      while (!this.#closed) {
        let fault: unknown;
        try {
          if (this.#hasNews) {
            if (this.#breaks > 0 && (await this.#isTurnOver())) break;
            this.#expectMore();
          }
          const next = await (this.#incoming ?? this.#begin()).next();
          if (next.done !== true) {
            const event = this.#takeBatch(next.value);
            if (event !== undefined) return { value: event, done: false };
            continue;
          }
          // It has ended by itself: there is nothing to let go.
          this.#connection = undefined;
          if (await this.#endsByClosing()) break;
          fault = new ConnectionError('The stream ended before its task did', { sent: true });
        } catch (error) {
          fault = error;
        }
        if (!(await this.#goesOnAfter(fault))) break;
      }
      this.#end();
      return END;
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }

  #takeBatch(batch: readonly ReceivedEvent[]): StreamResponse | undefined {
    this.#faults = 0;
    if (this.#announced > 0) this.#restored();
    this.#waitsSince = undefined;
    this.#hasNews = true;
    this.#arrived = batch;
    this.#taken = 0;
    return this.#take();
  }

  /** The caller has all that has come, and waits. */
  #expectMore(): void {
    if (this.#progress.isOver) this.#closeSoon();
    if (this.#silenceMs !== undefined) this.#waitsSince = this.#source.runtime.clock.monotonic();
  }

  #begin(): AsyncIterator<readonly ReceivedEvent[], undefined> {
    this.#deadline = this.#source.deadline();
    this.#incoming = this.#source.open(this.#connect())[Symbol.asyncIterator]();
    return this.#incoming;
  }

  /** Finds the way on after a connection that ended too early; false where the stream is over. */
  async #goesOnAfter(fault: unknown): Promise<boolean> {
    if (this.#closed || this.#progress.isOver) return false;
    this.#deadline?.signal?.throwIfAborted();
    if (await this.#isTurnOver()) return false;
    if (this.#mayLook(fault)) {
      this.#incoming = this.#look();
      return true;
    }
    const { attempts = ATTEMPTS } = this.#source.options;
    this.#faults += 1;
    this.#quiet += 1;
    if (!isTransient(fault) || this.#faults > attempts) throw fault;
    this.#incoming = (await this.#again(this.#quiet, fault))[Symbol.asyncIterator]();
    return true;
  }

  /** Whether the task is to be looked at, once for a connection: there is nothing to follow, or a connection brought nothing. */
  #mayLook(fault: unknown): boolean {
    if (this.#breaks === 0 || this.#looked || this.#progress.taskId === undefined) return false;
    if (fault instanceof A2AError && REFUSALS.has(fault.code)) return true;
    return this.#faults > 0 && !this.#source.resumable;
  }

  /**
   * True if a stream that the agent has closed is whole (Spec §3.1.2): agents differ in what they close at a question.
   */
  async #endsByClosing(): Promise<boolean> {
    if (this.#progress.isOver) return true;
    if (!this.#progress.isWaiting) return false;
    if (this.#progress.asksForInput) return this.#isTurnOver();
    return this.#source.span === 'turn' || !this.#source.resumable;
  }

  /** Whether the message has had its turn. The question just seen may be that of an earlier turn, shown again to a repeated message. */
  async #isTurnOver(): Promise<boolean> {
    if (!this.#progress.asksForInput) return false;
    const { hasTaken, options } = this.#source;
    if (hasTaken === undefined) return true;
    const { attempts = ATTEMPTS } = options;
    for (let number = 1; ; number++) {
      try {
        const task = await this.#source.task(this.#progress.taskId as string, this.#deadline?.signal);
        if (this.#announced > 0) this.#restored();
        return task.status.state === 'TASK_STATE_INPUT_REQUIRED' && hasTaken(task);
      } catch (error) {
        if (!isTransient(error) || number > attempts) throw error;
        await this.#pauseAfter(error, number);
      }
    }
  }

  /** Waits for the next attempt, and tells of it. */
  async #pauseAfter(error: A2AError, attempt: number): Promise<void> {
    const { options, runtime } = this.#source;
    const { firstMs = 250, longestMs = 10_000, longestRetryAfterMs = LONGEST_RETRY_AFTER_MS } = options;
    const ownMs = backoffMs(attempt, { firstMs, longestMs, factor: 2 }, runtime.random);
    const waitMs = waitAfter(error, ownMs, longestRetryAfterMs);
    const { attempts = ATTEMPTS } = options;
    this.#announced = attempt;
    runtime.onConnection({ state: 'interrupted', taskId: this.taskId, attempt, attempts, waitMs, error });
    await pause(runtime.clock, waitMs, this.#deadline?.signal);
  }

  #restored(): void {
    const attempt = this.#announced;
    this.#announced = 0;
    this.#source.runtime.onConnection({ state: 'restored', taskId: this.taskId, attempt });
  }

  /** The next connection, after a while. */
  async #again(number: number, fault: A2AError): Promise<EventBatches> {
    const { runtime, resumable, repeatable } = this.#source;
    const { taskId, lastEventId } = this.#progress;
    if (taskId === undefined && !repeatable) throw fault;
    this.#disconnect();
    await this.#pauseAfter(fault, number);
    this.#breaks += 1;
    this.#looked = false;
    runtime.logger.info('resuming a stream', { taskId, lastEventId, attempt: number, fault: fault.message });
    this.#progress.reconnect();
    const connected = this.#connect();
    if (taskId === undefined) return this.#source.open(connected);
    return this.#source.subscribe(taskId, { lastEventId: resumable ? lastEventId : undefined, signal: connected });
  }

  /** Where nothing can be followed: what has become of the task. */
  async *#look(): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    this.#disconnect();
    this.#progress.reconnect();
    this.#looked = true;
    const task = await this.#source.task(this.#progress.taskId as string, this.#connect());
    yield [{ event: { task } }];
  }

  #connect(): AbortSignal {
    const connection = new AbortController();
    this.#hasNews = false;
    this.#connection = connection;
    this.#waitsSince = this.#source.runtime.clock.monotonic();
    this.#watch(connection);
    return eitherSignal(this.#deadline?.signal, connection.signal);
  }

  #disconnect(): void {
    this.#stopTimer?.();
    if (this.#closing !== undefined) this.#source.runtime.closing.stop(this.#closing);
    this.#connection?.abort();
  }

  /** Nothing comes any more. */
  #end(): void {
    this.#closed = true;
    this.#arrived = [];
    this.#deadline?.release();
    if (this.#connection !== undefined) this.#incoming?.return?.().catch(nothing);
    this.#disconnect();
  }

  /** Gives a connection up that shows no sign of life while somebody waits for one. */
  #watch(connection: AbortController): void {
    const silenceMs = this.#silenceMs;
    if (silenceMs === undefined) return;
    const { runtime } = this.#source;
    const look = (): void => {
      const silent = this.#waitsSince === undefined ? 0 : runtime.clock.monotonic() - this.#waitsSince;
      if (silent < silenceMs) this.#stopTimer = runtime.clock.after(silenceMs - silent, look);
      else connection.abort(new ConnectionError(`The agent was silent for ${silenceMs} ms`, { sent: true }));
    };
    this.#stopTimer = runtime.clock.after(silenceMs, look);
  }

  /** The agent closes what is over; one that does not is not waited for. */
  #closeSoon(): void {
    if (this.#closing !== undefined) return;
    const connection = this.#connection;
    this.#stopTimer?.();
    this.#closing = this.#source.runtime.closing.start(() => connection?.abort());
  }
}
