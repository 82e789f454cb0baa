import { A2AError } from '../../errors/a2a-error.js';
import { failureLevel } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { StreamResponse, TaskEvent } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import { isTerminal, type TaskState } from '../../model/task-state.js';
import type { Place } from '../../runtime/linked-list.js';
import { mergedCancel } from '../../store/merged-cancel.js';
import type { CallerContext, CancelRequest, Claim, HeldTurn, Scope } from '../../store/task-storage.js';
import { eventBytes } from '../../task/event-bytes.js';
import { announcedState, readAgentEvent, statusEvent } from './agent-event.js';
import { AgentRun } from './agent-run.js';
import { cloneJson } from './clone-json.js';
import type { Draft, Opening } from './draft.js';
import { ignoreRejection } from './ignore-rejection.js';
import { SETTLED } from './settled.js';
import { TurnContext } from './turn-context.js';
import { type EventSink, TurnEvents } from './turn-events.js';
import type { EngineContext } from './turn-host.js';
import { type AddressedMessage, type LoggedTurn, TurnLog } from './turn-log.js';
import { TurnOverError } from './turn-over-error.js';
import { TurnTimers } from './turn-timers.js';
import { closingError, storageStalledError } from './unavailable-errors.js';
import { EXPIRED } from './waiting-expiry.js';

/** How the texts that the engine itself writes into a task read. Causes go to the log. */
const FAILURE_TEXTS = {
  failed: 'The agent failed to process the message.',
  silent: 'The agent ended without a result.',
  invalid: 'The agent gave an invalid response.',
  late: 'The agent did not finish within its time limit.',
  large: 'The agent produced more than a task can hold.',
  fast: 'The agent published faster than its events can be stored.',
} as const;

const BEGIN_RETRY_MS = 1_000;

/** What a turn tells the one who keeps the list of turns. */
export interface TurnOwner {
  /** A draft has become a task, whose turn this is. */
  opened(turn: Turn): void;
  /** The turn left the storage, or was overtaken; `waiting` executions of its task want to run. */
  ended(turn: Turn, waiting: number): void;
}

/** One run of an executor on one message: decides which events are the task's, and how the task ends if the agent does not say. */
export class Turn implements EventSink, LoggedTurn {
  readonly taskId: string;
  readonly contextId: string;
  readonly scope: Scope;
  /** What it answers. */
  readonly message: AddressedMessage;
  /** Its place in a list of turns, the owner's. */
  place: Place<Turn> | undefined;
  readonly #context: EngineContext;
  readonly #owner: TurnOwner;
  readonly #caller: CallerContext;
  readonly #log: TurnLog;
  #opening: PromiseWithResolvers<Opening> | undefined;
  #agent: AgentRun | undefined;
  #refusal: Promise<never> | undefined;
  /** Nothing more is accepted from the agent. */
  #over = false;
  #left: PromiseWithResolvers<void> | undefined;
  /** The agent runs and the task waits for a login. */
  #waits = false;
  #returned = false;
  #handingOver: Promise<void> | undefined;
  #cancel: CancelRequest | undefined;
  readonly #timers: TurnTimers;

  constructor(context: EngineContext, owner: TurnOwner, start: { readonly claim: Claim } | { readonly draft: Draft }) {
    this.#context = context;
    this.#timers = new TurnTimers(context);
    this.#owner = owner;
    const origin = 'claim' in start ? start.claim : start.draft;
    this.scope = origin.scope;
    this.#caller = origin.caller;
    this.taskId = origin.task.id;
    this.contextId = origin.task.contextId ?? '';
    this.message = addressed(origin.message, origin.task);
    this.#log = new TurnLog({ context, turn: this, ...start });
    if ('claim' in start) {
      this.#cancel = start.claim.cancel;
    } else {
      this.#opening = Promise.withResolvers<Opening>();
      this.#opening.promise.catch(() => {});
    }
  }

  /** What the first event of a draft made of it; rejects with what the agent refused it with. */
  get opening(): Promise<Opening> | undefined {
    return this.#opening?.promise;
  }

  /** The turn as the storage knows it; absent until it is there. */
  get held(): HeldTurn | undefined {
    return this.#log.held;
  }

  /** What the one who cancels it has said beside that. */
  get cancelMetadata(): CancelRequest['metadata'] {
    return this.#cancel?.metadata;
  }

  /** Resolves when the turn is no longer this process's to write, however it ended. */
  get left(): Promise<void> {
    this.#left ??= Promise.withResolvers<void>();
    return this.#left.promise;
  }

  /** Runs the executor; everything that can happen is taken care of. */
  run(): void {
    // Between its claim and its start it was handed over or overtaken.
    if (this.#over) return;
    if (this.#cancel) return this.conclude('TASK_STATE_CANCELED');
    const { executor, storage, ids, uncaughtErrors, logger } = this.#context;
    this.#timers.startDeadline(() => this.#late());
    const context = new TurnContext({
      scope: this.scope,
      storage,
      message: this.message,
      caller: this.#caller,
      claim: this.#log.claim,
      saveCheckpoint: (value) => this.#saveCheckpoint(value),
      limits: this.#context.limits,
      logger,
    });
    this.#agent = new AgentRun({
      taskId: this.taskId,
      executor,
      context,
      events: new TurnEvents(this, ids),
      uncaughtErrors,
      logger,
      onUncaughtError: () => this.#strayed(),
    });
    let running: Promise<unknown> | undefined;
    try {
      running = this.#agent.execute();
    } catch (error) {
      return this.#threw(error);
    }
    if (running === undefined) return this.#finished();
    running.then(
      () => this.#finished(),
      (error: unknown) => this.#threw(error),
    );
    if (this.#log.phase === 'open') {
      // An agent that publishes in its first step says itself how the turn begins.
      queueMicrotask(() => {
        if (this.#log.phase === 'open' && !this.#over) this.#log.begin();
      });
    }
  }

  /** Runs the executor once the storage has counted the attempt. Never rejects. */
  async begin(): Promise<void> {
    const { storage, clock, logger } = this.#context;
    const { held } = this;
    const attempt = this.#log.claim?.attempt;
    if (this.#over || held === undefined || attempt === undefined) return;
    try {
      const renewal = await storage.begin(held, attempt);
      if (!renewal.held) return this.lost();
      if (renewal.cancel) this.#cancel = mergedCancel(this.#cancel, renewal.cancel);
      this.run();
    } catch (error) {
      logger[failureLevel(error)]('beginning a turn failed, trying again', { taskId: this.taskId, error });
      clock.after(BEGIN_RETRY_MS, () => void this.begin());
    }
  }

  /** Ends the task with a state of the engine's choosing, without running the agent. */
  conclude(state: TaskState, text?: string): void {
    this.#log.skipWorking();
    this.#end(state, text);
    this.#finished();
  }

  /** Takes the turn out of the storage, the task staying as it is, without running the agent. */
  leave(): void {
    this.#over = true;
    this.#finished();
  }

  /** Asks the agent to stop; after the grace the task is CANCELED whatever it does. */
  cancel(request: CancelRequest): void {
    const again = this.#cancel !== undefined;
    this.#cancel = mergedCancel(this.#cancel, request);
    if (this.#log.ended) return;
    if (this.#over) return this.#end('TASK_STATE_CANCELED');
    if (again) return;
    this.#timers.startGrace(() => this.#end('TASK_STATE_CANCELED'));
    this.#agent?.abort(new Error('The task was canceled'));
    if (this.#context.executor.cancel) this.#agent?.cancel();
  }

  /** Gives the turn up for another process to take over; resolves when the storage knows. */
  handOver(): Promise<void> {
    this.#handingOver ??= this.#handOver();
    return this.#handingOver;
  }

  async #handOver(): Promise<void> {
    // How the agent takes it is not the turn's end: that is the next process's to find out.
    this.#returned = true;
    this.#stop(new Error('The server is shutting down'));
    if (this.#log.phase !== 'draft') return this.#log.handOver(this.#agent !== undefined);
    this.#opening?.reject(closingError());
    this.gone(0);
  }

  /** The storage says that the turn is not held: by its own doing, or because it belongs to somebody else now. */
  lost(): void {
    if (!this.#log.leaving) this.overtaken();
  }

  /** Stops without a trace: the turn belongs to somebody else now. */
  overtaken(): void {
    this.#returned = true;
    this.#stop(new Error('The turn was taken over by another process'));
    this.#opening?.reject(closingError());
    this.#log.abandon();
    this.gone(0);
  }

  stored(claim: Claim): void {
    this.#cancel ??= claim.cancel;
    this.#owner.opened(this);
    this.#opening?.resolve({ claim });
  }

  overdue(): void {
    this.#opening?.reject(storageStalledError());
  }

  unstored(error: unknown): void {
    this.#opening?.reject(error);
    this.#stop(new Error('The task could not be stored'));
    this.gone(0);
  }

  gone(waiting: number): void {
    this.#owner.ended(this, waiting);
    this.#left?.resolve();
  }

  /** One for all events, however many are still published. */
  get refused(): Promise<never> | undefined {
    if (this.#over) this.#refusal ??= ignoreRejection(Promise.reject(new TurnOverError()));
    return this.#refusal;
  }

  accept(raw: unknown, isOwn = false): Promise<void> {
    if (this.refused) return this.refused;
    let event: StreamResponse;
    try {
      event = readAgentEvent(isOwn ? raw : cloneJson(raw, this.#context.limits.taskBytes), this);
    } catch (error) {
      return this.refuse(error);
    }
    const { phase } = this.#log;
    if ('message' in event) {
      if (phase === 'draft') return this.#reply(event.message);
      return this.#publish(statusEvent(this, 'TASK_STATE_COMPLETED', { ...event.message, taskId: this.taskId }));
    }
    // Agents written for other servers announce the task first; here that has happened already.
    if ((phase === 'draft' || phase === 'open') && announcedState(event) === 'TASK_STATE_SUBMITTED') {
      this.#log.bear();
      return SETTLED;
    }
    return this.#publish(event);
  }

  refuse(error: unknown): Promise<void> {
    if (this.refused) return this.refused;
    this.#context.logger.error('agent published an invalid event', { taskId: this.taskId, error });
    this.#spoil(FAILURE_TEXTS.invalid);
    this.#agent?.refused(error);
    return Promise.reject(error);
  }

  flush(): Promise<void> {
    return this.#log.flush();
  }

  #publish(event: TaskEvent): Promise<void> {
    const bytes = eventBytes(event);
    const excess = this.#log.excess(bytes);
    if (excess !== undefined) {
      this.#context.logger.error(FAILURE_TEXTS[excess], { taskId: this.taskId });
      this.#spoil(FAILURE_TEXTS[excess]);
      return Promise.reject(new TurnOverError());
    }
    const state = announcedState(event);
    // Said now, also where the task is not born yet: what follows an end is refused from here on.
    if (state !== undefined && (isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED')) this.#settle();
    else if (state !== undefined) this.#keepTime(state);
    return this.#log.publish(event, bytes);
  }

  /** What the agent does makes no sense of its task, or more of it than there can be. */
  #spoil(text: string): void {
    this.#end('TASK_STATE_FAILED', text);
    this.#agent?.abort(new Error(text));
  }

  /** The engine's own word; wins over anything the agent says later. */
  #end(state: TaskState, text?: string): void {
    if (this.#log.ended) return;
    this.#settle();
    const { taskId, contextId } = this;
    const message: Message | undefined =
      text === undefined
        ? undefined
        : { messageId: this.#context.ids.random(), role: 'ROLE_AGENT', taskId, contextId, parts: [{ text }] };
    this.#log.publish(statusEvent(this, state, message)).catch(() => {});
  }

  #reply(message: Message): Promise<void> {
    const { taskId: _none, ...direct } = message;
    this.#settle();
    this.#opening?.resolve({ reply: direct });
    this.gone(0);
    return SETTLED;
  }

  #finished(): void {
    if (this.#returned) return;
    this.#returned = true;
    this.#timers.stop();
    if (!this.#over) {
      if (this.#cancel) this.#end('TASK_STATE_CANCELED');
      else if (this.#log.state !== 'TASK_STATE_AUTH_REQUIRED') {
        this.#context.logger.warn('agent ended without a final or interrupted state', { taskId: this.taskId });
        this.#end('TASK_STATE_FAILED', FAILURE_TEXTS.silent);
      }
    }
    this.#over = true;
    this.#agent?.end();
    this.#log.finish();
  }

  #threw(error: unknown): void {
    if (this.#over) this.#agent?.threwLate(error);
    else {
      if (this.#cancel) this.#end('TASK_STATE_CANCELED');
      else if (this.#log.phase === 'draft' && isA2AError(error)) {
        this.#settle();
        this.#opening?.reject(error);
        this.gone(0);
      } else {
        this.#context.logger.error('agent failed', { taskId: this.taskId, error });
        this.#end('TASK_STATE_FAILED', FAILURE_TEXTS.failed);
      }
    }
    this.#finished();
  }

  /** The agent threw where nobody waits for it: whether it still works is not known, so that its task fails now. */
  #strayed(): void {
    if (this.#over) return;
    if (this.#cancel) this.#end('TASK_STATE_CANCELED');
    else this.#end('TASK_STATE_FAILED', FAILURE_TEXTS.failed);
    this.#agent?.abort(new Error('The agent has failed'));
  }

  #late(): void {
    this.#context.logger.warn('agent passed its deadline', { taskId: this.taskId });
    if (!this.#over) this.#end('TASK_STATE_FAILED', FAILURE_TEXTS.late);
    this.#stop(new Error('The deadline has passed'));
    this.#finished();
  }

  /**
   * While its agent waits for a login, a turn has no deadline: the task expires as other tasks do that wait for their
   * caller.
   */
  #keepTime(state: TaskState): void {
    const waits = state === 'TASK_STATE_AUTH_REQUIRED';
    if (waits) this.#timers.startExpiry(() => this.#spoil(EXPIRED));
    else if (this.#waits) this.#timers.startDeadline(() => this.#late());
    this.#waits = waits;
  }

  /** The agent has had its say; what is left for it is to return. */
  #settle(): void {
    this.#over = true;
    if (this.#returned) return;
    this.#timers.startGrace(() => {
      this.#stop(new Error('The turn is over'));
      this.#log.finish();
    });
  }

  #stop(reason: Error): void {
    this.#over = true;
    this.#timers.stop();
    this.#agent?.abort(reason);
    this.#agent?.end();
  }

  /** A checkpoint that fails is no failure of the agent, also if nobody waits for it. */
  async #saveCheckpoint(value: JsonValue): Promise<void> {
    const { storage, limits, logger } = this.#context;
    try {
      const checkpoint = cloneJson(value, limits.taskBytes);
      await this.flush();
      const { held } = this;
      if (this.#over || !held || !(await storage.saveCheckpoint(held, checkpoint))) throw new TurnOverError();
    } catch (error) {
      this.#agent?.refused(error);
      if (!this.#over) logger[levelOf(error)]('a checkpoint was not saved', { taskId: this.taskId, error });
      throw error;
    }
  }
}

/** The message with the ids of its task: in the history of a task that it made it has them. */
function addressed(message: Message, { id, contextId = '', history }: Task): AddressedMessage {
  const first = history?.[0];
  if (first?.messageId === message.messageId && first.taskId === id && first.contextId === contextId) {
    return first as AddressedMessage;
  }
  return { ...message, taskId: id, contextId };
}

/** Anything can be thrown, and some of it throws when it is looked at. */
function levelOf(error: unknown): 'error' | 'debug' {
  try {
    return failureLevel(error);
  } catch {
    return 'error';
  }
}

/** Anything can be thrown, and some of it throws when it is looked at. */
function isA2AError(error: unknown): error is A2AError {
  try {
    return error instanceof A2AError;
  } catch {
    return false;
  }
}
