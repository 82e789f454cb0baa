import { ConnectionError } from '../errors/connection-error.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type { TaskState } from '../model/task-state.js';
import { AttemptPauses } from './attempt-pauses.js';
import { backoffMs, LONGEST_RETRY_AFTER_MS, waitAfter } from './backoff.js';
import { type CallDeadline, eitherSignal } from './call-deadline.js';
import type { ClientRuntime } from './client-runtime.js';
import type { EventBatches, ReceivedEvent } from './client-transport.js';
import {
  FIRST_STATE,
  nextState,
  type PauseStep,
  type ReadStep,
  type StreamOutcome,
  type StreamRules,
  type StreamState,
} from './stream-policy.js';
import { StreamProgress } from './stream-progress.js';

/** Options for reconnecting streams. */
export interface ResumeOptions {
  /** Attempts in a row without any answer before the stream fails. Default 10; 0 turns reconnecting off. */
  readonly attempts?: number;
  /** First wait in ms; it doubles with each attempt. Default 250. */
  readonly firstMs?: number;
  /** Longest wait in ms. Default 10,000. */
  readonly longestMs?: number;
  /** Longest `Retry-After` of the agent that the client obeys, in ms. Default 60,000. */
  readonly longestRetryAfterMs?: number;
  /**
   * Silence in ms after which the client gives a connection up. Default 60,000 for agents that declare the extension
   * for resumable streams, because they send keep-alives. Other agents may send none, so their connections have no
   * limit. Those of a binding that finds lost connections itself have none either.
   */
  readonly silenceMs?: number;
}

/** The calls and settings that a stream needs. */
export interface StreamSource extends StreamRules {
  /** The task that the caller named. */
  readonly taskId: string | undefined;
  readonly lastEventId: string | undefined;
  /** True if the agent sends keep-alives on every stream. */
  readonly keepsAlive: boolean;
  readonly options: ResumeOptions;
  readonly runtime: ClientRuntime;
  /** Starts the time limit of the whole stream. Called once, before the first connection. */
  deadline(): CallDeadline;
  /** Applies the interceptors to the events. */
  around(events: AsyncIterable<StreamResponse>): AsyncIterable<StreamResponse>;
  /** Makes the first connection. */
  open(signal: AbortSignal): EventBatches;
  /** Connects to a known task. */
  subscribe(id: string, place: SubscriptionPlace): EventBatches;
  /** Calls GetTask. */
  task(id: string, signal: AbortSignal | undefined): Promise<Task>;
}

/** The place in a stream at which a subscription begins. */
interface SubscriptionPlace {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
}

const SILENCE_MS = 60_000;
/** Time in which an agent has to close a stream that is over, in ms. */
const CLOSING_MS = 1_000;
const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
const nothing = (): void => {};

/**
 * The events of a message's turn or of a task, over as many connections as necessary. Iterate it once. If the caller
 * leaves the loop, the connection closes and the task continues. If the agent numbers its events, each event arrives
 * once and in order. Otherwise a `task` event after a reconnection replaces the missed events. A `task` event always
 * shows the current task. Between events, the getters tell the progress.
 *
 * `stream-policy.ts` decides the next action; this class performs it.
 */
export class TaskStream implements AsyncIterableIterator<StreamResponse, undefined> {
  readonly #source: StreamSource;
  readonly #progress: StreamProgress;
  readonly #pauses: AttemptPauses;
  readonly #silenceMs: number | undefined;
  #state: StreamState = FIRST_STATE;
  /** The caller's view of the events, after the interceptors. */
  #events: AsyncIterator<StreamResponse> | undefined;
  /** The batches of the current connection. */
  #incoming: AsyncIterator<readonly ReceivedEvent[], undefined> | undefined;
  /** The current batch, and the number of its events that were processed. */
  #arrived: readonly ReceivedEvent[] = [];
  #taken = 0;
  /** The event before which others were lost. The rest of its connection is dropped. */
  #afterGap: ReceivedEvent | undefined;
  #pending: Promise<unknown> | undefined;
  #deadline: CallDeadline | undefined;
  #connection: AbortController | undefined;
  /** Start of the current wait for a batch; undefined while the caller handles an event. */
  #waitsSince: number | undefined;
  #stopTimer: (() => void) | undefined;
  #isClosing = false;
  #closed = false;

  constructor(source: StreamSource) {
    this.#source = source;
    this.#progress = new StreamProgress(source, source);
    this.#pauses = new AttemptPauses(source.runtime);
    this.#silenceMs = source.options.silenceMs ?? (source.keepsAlive ? SILENCE_MS : undefined);
  }

  /** The task, once the agent has named it. */
  get taskId(): string | undefined {
    return this.#progress.taskId;
  }

  get contextId(): string | undefined {
    return this.#progress.contextId;
  }

  /** The state of the task after the last event. */
  get state(): TaskState | undefined {
    return this.#progress.state;
  }

  /**
   * True if the task waits for its caller after the last event: for input, or for authorization. An agent may keep the
   * stream open meanwhile. False while the events may show only the question that the sent message answers.
   */
  get isWaiting(): boolean {
    const { isWaiting, asksForInput, rules } = this.#progress;
    // After a reconnection the stream itself finds out to which message the question belongs.
    return isWaiting && !(asksForInput && this.breaks > 0 && rules.hasTaken !== undefined);
  }

  /** The id of the last event that had one. `subscribeToTask` can continue after it. */
  get lastEventId(): string | undefined {
    return this.#progress.lastEventId;
  }

  /** The number of reconnections. */
  get breaks(): number {
    return this.#state.tries.breaks;
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

  /** The events before the interceptors. */
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

  /** Not async for events that have arrived already: a stream may deliver thousands of them a second. */
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
      if (this.#progress.isAfterGap(received)) {
        this.#afterGap = received;
        this.#arrived = [];
        return undefined;
      }
      this.#taken += 1;
      if (this.#progress.take(received)) return received.event;
    }
  }

  /** Performs actions until an event arrives. */
  async #more(): Promise<IteratorResult<StreamResponse, undefined>> {
    try {
      while (!this.#closed) {
        const state = this.#state;
        if (state.step === 'end') break;
        if (state.step === 'fail') throw state.error;
        let event: StreamResponse | undefined;
        let outcome: StreamOutcome;
        try {
          this.#failAtGap();
          if (state.step === 'deliver') outcome = 'wanted';
          else if (state.step === 'check') outcome = await this.#check();
          else if (state.step === 'pause') outcome = await this.#pause(state);
          else {
            const next = await this.#batches(state.step).next();
            if (next.done === true) {
              // A connection that is closed already needs no abort.
              this.#connection = undefined;
              outcome = 'closed';
            } else {
              event = this.#arrive(next.value);
              outcome = event === undefined ? 'stale' : 'news';
            }
          }
        } catch (error) {
          const signal = this.#deadline?.signal;
          outcome = signal?.aborted ? { error: signal.reason, expired: true } : { error, expired: false };
        }
        this.#state = nextState(state, outcome, this.#progress);
        if (event !== undefined) return { value: event, done: false };
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

  #failAtGap(): void {
    const after = this.#afterGap;
    if (after === undefined) return;
    this.#afterGap = undefined;
    const lost = `Events between ${this.lastEventId} and ${after.id} were lost`;
    throw new ConnectionError(lost, { sent: true });
  }

  /** The source of the next batch. */
  #batches(step: ReadStep): AsyncIterator<readonly ReceivedEvent[], undefined> {
    const source = this.#source;
    let incoming = this.#incoming;
    if (incoming === undefined || step === 'open') {
      this.#deadline ??= source.deadline();
      incoming = source.open(this.#connect())[Symbol.asyncIterator]();
    } else if (step === 'subscribe') {
      const lastEventId = source.resumable ? this.lastEventId : undefined;
      const place = { lastEventId, signal: this.#connect() };
      incoming = source.subscribe(this.taskId as string, place)[Symbol.asyncIterator]();
    } else if (step === 'poll') {
      incoming = this.#poll();
    } else {
      if (step === 'drain') this.#closeSoon();
      if (this.#silenceMs !== undefined) this.#waitsSince = source.runtime.clock.monotonic();
    }
    this.#incoming = incoming;
    return incoming;
  }

  #arrive(batch: readonly ReceivedEvent[]): StreamResponse | undefined {
    this.#pauses.answered(this.taskId);
    this.#waitsSince = undefined;
    this.#arrived = batch;
    this.#taken = 0;
    return this.#take();
  }

  /** The current task, as the only event of a connection. */
  async *#poll(): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    this.#disconnect();
    const task = await this.#source.task(this.taskId as string, this.#connect());
    yield [{ event: { task } }];
  }

  async #check(): Promise<StreamOutcome> {
    const { task: readTask, hasTaken } = this.#source;
    const task = await readTask(this.taskId as string, this.#deadline?.signal);
    this.#pauses.answered(this.taskId);
    return task.status.state === 'TASK_STATE_INPUT_REQUIRED' && hasTaken?.(task) ? 'turn over' : 'turn open';
  }

  async #pause({ attempt, fault, next }: PauseStep): Promise<StreamOutcome> {
    const { attempts, options, runtime } = this.#source;
    const { taskId, lastEventId } = this.#progress;
    const { firstMs = 250, longestMs = 10_000, longestRetryAfterMs = LONGEST_RETRY_AFTER_MS } = options;
    if (next.step !== 'check') this.#disconnect();
    const ownMs = backoffMs(attempt, { firstMs, longestMs, factor: 2 }, runtime.random);
    const waitMs = waitAfter(fault, ownMs, longestRetryAfterMs);
    await this.#pauses.wait({ taskId, attempt, attempts, waitMs, error: fault }, this.#deadline?.signal);
    if (next.step !== 'check')
      runtime.logger.info('resuming a stream', { taskId, lastEventId, attempt, fault: fault.message });
    return 'paused';
  }

  #connect(): AbortSignal {
    const connection = new AbortController();
    this.#progress.reconnect();
    this.#connection = connection;
    this.#waitsSince = this.#source.runtime.clock.monotonic();
    this.#watch(connection);
    return eitherSignal(this.#deadline?.signal, connection.signal);
  }

  #disconnect(): void {
    this.#stopTimer?.();
    this.#connection?.abort();
  }

  #end(): void {
    this.#closed = true;
    this.#arrived = [];
    this.#deadline?.release();
    if (this.#connection !== undefined) this.#incoming?.return?.().catch(nothing);
    this.#disconnect();
  }

  /** Aborts a connection on which nothing arrives for `silenceMs` while the caller waits. */
  #watch(connection: AbortController): void {
    const silenceMs = this.#silenceMs;
    if (silenceMs === undefined) return;
    const { clock } = this.#source.runtime;
    const look = (): void => {
      const silent = this.#waitsSince === undefined ? 0 : clock.monotonic() - this.#waitsSince;
      if (silent < silenceMs) this.#stopTimer = clock.after(silenceMs - silent, look);
      else connection.abort(new ConnectionError(`The agent was silent for ${silenceMs} ms`, { sent: true }));
    };
    this.#stopTimer = clock.after(silenceMs, look);
  }

  /** Agents close a stream that is over. The client closes it if the agent does not. */
  #closeSoon(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const connection = this.#connection;
    this.#stopTimer?.();
    this.#stopTimer = this.#source.runtime.idleClock.after(CLOSING_MS, () => connection?.abort());
  }
}
