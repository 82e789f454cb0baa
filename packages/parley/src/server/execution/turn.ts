import { failureLevel } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import type { EqualTimers, RunningTimer } from '../../runtime/equal-timers.js';
import type { Place } from '../../runtime/linked-list.js';
import { attempt, ignoreRejection, SETTLED } from '../../runtime/settled.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { CancelRequest, Claim, HeldTurn, ReleaseHow } from '../../store/held-turn.js';
import { mergedCancel } from '../../store/rules/decide-cancel.js';
import type { Scope } from '../../store/task-key.js';
import { eventBytes, messageBytes } from '../../task/event-bytes.js';
import { type Authorization, AuthorizationError, type AuthorizationRequest } from '../authorization.js';
import type { Question } from '../question-change.js';
import { inputOf, readAgentEvent, statusEvent } from './agent-event.js';
import { AgentRun, inputOfThrown, levelOfThrown } from './agent-run.js';
import type { AskingTurn } from './authorizations.js';
import { cloneJson } from './clone-json.js';
import { type Draft, type Opening, storeDraft } from './draft.js';
import type { EarlierReplies } from './earlier-replies.js';
import type { EngineContext } from './engine-context.js';
import { type CheckpointWrite, TurnCheckpoint } from './turn-checkpoint.js';
import { TurnContext } from './turn-context.js';
import { type EventSink, TurnEvents, TurnOverError } from './turn-events.js';
import { type AddressedMessage, addressed, heldTurn, type LoggedTurn, TurnLog } from './turn-log.js';
import {
  acceptsEvents,
  hasLeft,
  step,
  type TurnAnswer,
  type TurnEffect,
  type TurnInput,
  type TurnState,
  type TurnTimer,
} from './turn-state.js';
import { IMPOSSIBLE } from './turn-transitions.js';
import { closingError, storageStalledError } from './unavailable-errors.js';

const BEGIN_RETRY_MS = 1_000;

/** The list of turns that a turn is in. */
export interface TurnOwner {
  /** A draft is about to become a task. Its lease may begin from now on. */
  storing(turn: Turn): void;
  /** A draft has become a task. */
  stored(turn: Turn): void;
  /** True once the process closes. */
  readonly closing: boolean;
  /** The turn is no longer this process's to write. `waiting`: messages of its task that wait for their turn. */
  left(turn: Turn, waiting: number): void;
}

/** The data that come with an input, for the effects that need them. */
interface Given {
  readonly event?: StreamResponse;
  readonly bytes?: number;
  readonly error?: unknown;
  readonly claim?: Claim;
  readonly waiting?: number;
}

const NONE: Given = {};

/**
 * The run of an agent on one message. `turn-state.ts` decides everything that becomes of it: this class tells it what
 * happens, and does what it says.
 */
export class Turn implements EventSink, LoggedTurn {
  readonly taskId: string;
  readonly contextId: string;
  readonly scope: Scope;
  /** The message that the turn answers. */
  readonly message: AddressedMessage;
  /** The place of the turn in the list of drafts, set by the owner of that list. */
  place: Place<Turn> | undefined;
  /** The place of the turn among the running turns of its caller, set by the owner of that list. */
  callerPlace: { readonly key: string | undefined } | undefined;
  readonly #context: EngineContext;
  readonly #owner: TurnOwner;
  readonly #caller: CallerContext;
  readonly #draft: Draft | undefined;
  readonly #opening: PromiseWithResolvers<Opening> | undefined;
  #state: TurnState;
  /** Absent for a draft that has published nothing but a direct message. */
  #log: TurnLog | undefined;
  #agent: AgentRun | undefined;
  #cancel: CancelRequest | undefined;
  #replies: EarlierReplies | undefined;
  #refusal: Promise<never> | undefined;
  #left: PromiseWithResolvers<void> | undefined;
  #timers: EqualTimers | undefined;
  #timer: RunningTimer | undefined;

  constructor(context: EngineContext, owner: TurnOwner, start: { readonly claim: Claim } | { readonly draft: Draft }) {
    this.#context = context;
    this.#owner = owner;
    const origin = 'claim' in start ? start.claim : start.draft;
    this.scope = origin.scope;
    this.#caller = origin.caller;
    this.taskId = origin.task.id;
    this.contextId = origin.task.contextId ?? '';
    this.message = addressed(origin.message, origin.task);
    if ('claim' in start) {
      this.#state = 'claimed';
      this.#cancel = start.claim.cancel;
      this.#log = new TurnLog(context, this);
      this.#log.open(start.claim);
    } else {
      this.#state = 'drafted';
      this.#draft = start.draft;
      this.#opening = Promise.withResolvers<Opening>();
      ignoreRejection(this.#opening.promise);
    }
  }

  /** The outcome of a draft's first event. Rejects with the error that its agent refuses the message with. */
  get opening(): Promise<Opening> | undefined {
    return this.#opening?.promise;
  }

  /** The turn as the storage knows it; absent before the task is stored. */
  get held(): HeldTurn | undefined {
    return this.#log?.held;
  }

  /** Metadata from the CancelTask request, merged if several arrived. */
  get cancelMetadata(): CancelRequest['metadata'] {
    return this.#cancel?.metadata;
  }

  /** Resolves when the turn is no longer this process's to write. */
  get whenLeft(): Promise<void> {
    if (hasLeft(this.#state)) return SETTLED;
    this.#left ??= Promise.withResolvers<void>();
    return this.#left.promise;
  }

  /** Tells the turn what has happened. Returns the promise of an effect that takes time, if there is one. */
  advance(input: TurnInput, given: Given = NONE): Promise<void> | undefined {
    const next = step(this.#state, input);
    if (next === IMPOSSIBLE) {
      const { taskId } = this;
      this.#context.logger.error('a turn ignores what cannot happen', { taskId, state: this.#state, input });
      return undefined;
    }
    this.#state = next.state;
    const { effects } = next;
    let result: Promise<void> | undefined;
    for (let index = 0; index < effects.length; index += 1) {
      const effect = effects[index];
      if (effect) result = this.#perform(effect, given) ?? result;
    }
    return result;
  }

  /** Runs the agent after the storage has counted the attempt. Never rejects. */
  async begin(): Promise<void> {
    await this.advance('begin');
  }

  /** Asks the agent to stop. After the grace the task is CANCELED, whatever the agent does. */
  cancel(request: CancelRequest): void {
    this.#cancel = mergedCancel(this.#cancel, request);
    this.advance('cancel');
  }

  /** Gives the turn up for another process. Resolves when the turn has left this one. */
  handOver(): Promise<void> {
    const { whenLeft } = this;
    this.advance('hand over');
    return whenLeft;
  }

  /** Gives the turn up if it only waits for an authorization: no grace would bring it further. */
  yieldToShutdown(): void {
    if (this.#state === 'kept' || this.#awaitsAuthorization) void this.handOver();
  }

  left(waiting: number): void {
    this.advance('left', { waiting });
  }

  fenced(): void {
    this.advance('fenced');
  }

  /** True if another process may write the turn. */
  get isLost(): boolean {
    return this.#state === 'lost';
  }

  /** One promise for all events, however many an agent still publishes. */
  get refused(): Promise<never> | undefined {
    return acceptsEvents(this.#state) ? undefined : this.#refuse();
  }

  own(value: unknown): JsonValue {
    return cloneJson(value, this.#context.limits.taskBytes);
  }

  accept(raw: unknown, isOwn = false, isValid = false): Promise<void> {
    if (!acceptsEvents(this.#state)) return this.#refuse();
    let event: StreamResponse;
    try {
      event = isValid ? (raw as StreamResponse) : readAgentEvent(isOwn ? raw : this.own(raw), this);
    } catch (error) {
      return this.refuse(error);
    }
    const bytes = 'message' in event ? messageBytes(event.message) : eventBytes(event);
    // A direct message needs no log.
    if (!('message' in event)) this.#log ??= new TurnLog(this.#context, this);
    const excess = this.#log?.excess(bytes);
    if (excess === undefined) return this.advance(inputOf(event), { event, bytes }) ?? SETTLED;
    return this.advance(excess) ?? Promise.reject(new TurnOverError());
  }

  refuse(error: unknown): Promise<void> {
    const refused = this.advance('invalid', { error });
    if (refused) return refused;
    this.#agent?.refused(error);
    return Promise.reject(error);
  }

  flush(): Promise<void> {
    return this.#log?.flush() ?? SETTLED;
  }

  #perform(effect: TurnEffect, given: Given): Promise<void> | undefined {
    switch (effect.do) {
      case 'append event':
        return this.#append(given);
      case 'append status':
        return void this.#appendStatus(effect.state, effect.text);
      case 'finish log':
        return void this.#log?.finish();
      case 'start timer':
        return void this.#startTimer(effect.timer);
      case 'stop timer':
        return void this.#stopTimer();
      case 'call agent':
        return void this.#callAgent();
      case 'await first step':
        return void queueMicrotask(() => this.advance('first step over'));
      case 'abort agent':
        return void this.#agent?.abort(new Error(effect.reason));
      case 'call cancel of agent':
        return void this.#agent?.cancel();
      case 'release agent':
        return void this.#agent?.release();
      case 'count attempt':
        return this.#countAttempt();
      case 'store task':
        return void this.#store();
      case 'open log':
        return void this.#open(given);
      case 'flush log':
        return void this.#flush();
      case 'abandon log':
        return void this.#log?.abandon();
      case 'release turn':
        return void this.#release(given.claim ?? this.#log?.claim, effect.how);
      case 'answer':
        return void this.#answer(effect.with, given);
      case 'tell overdue':
        return void (this.#draft?.overdue ?? this.#opening?.reject)?.(storageStalledError());
      case 'report left':
        this.#owner.left(this, given.waiting ?? 0);
        return void this.#left?.resolve();
      case 'refuse event':
        return this.#refuse();
      case 'log late error':
        return void this.#agent?.threwLate(given.error);
      case 'log':
        return void this.#context.logger[effect.level](effect.text, {
          taskId: this.taskId,
          ...('error' in given && { error: given.error }),
        });
    }
  }

  #append({ event, bytes }: Given): Promise<void> | undefined {
    if (event === undefined) return undefined;
    if (!('message' in event)) return this.#log?.append(event, bytes);
    return this.#log?.append(statusEvent(this, 'TASK_STATE_COMPLETED', { ...event.message, taskId: this.taskId }));
  }

  /** Appends a status of the engine's own. Its commit is retried, so there is nothing to wait for. */
  #appendStatus(state: TaskState, text: string | undefined): void {
    if (this.#log) ignoreRejection(this.#log.append(statusEvent(this, state, this.#saying(text))));
  }

  #saying(text: string | undefined): Message | undefined {
    if (text === undefined) return undefined;
    const { taskId, contextId } = this;
    return { messageId: this.#context.ids.random(), role: 'ROLE_AGENT', taskId, contextId, parts: [{ text }] };
  }

  #callAgent(): void {
    const { executor, storage, ids, uncaughtErrors, logger, limits, services } = this.#context;
    const { claim } = this.#log ?? {};
    const write: CheckpointWrite = (held, stored) =>
      context.patience.ask(async () => acceptsEvents(this.#state) && storage.saveCheckpoint(held, stored));
    const checkpoint = new TurnCheckpoint(this, claim?.checkpoint, write);
    const context: TurnContext = new TurnContext({
      scope: this.scope,
      storage,
      message: this.message,
      caller: this.#caller,
      claim,
      saveCheckpoint: (value) => this.#saveCheckpoint(value, checkpoint),
      requestAuthorization: (request) => this.#requestAuthorization(context, request),
      limits,
      services,
      course: {
        turn: this,
        context: this.#context,
        checkpoint,
        state: () => this.#state,
        deadline: () => (this.#timers === this.#context.deadlines ? this.#timer : undefined),
      },
      logger,
    });
    this.#agent = new AgentRun({
      taskId: this.taskId,
      executor,
      context,
      events: new TurnEvents(this, ids),
      uncaughtErrors,
      logger,
      onUncaughtError: () => this.advance('threw elsewhere'),
    });
    let running: Promise<unknown> | undefined;
    try {
      running = this.#agent.execute();
    } catch (error) {
      return void this.advance(inputOfThrown(error), { error });
    }
    if (running === undefined) return void this.advance('returned');
    running.then(
      () => this.advance('returned'),
      (error: unknown) => this.advance(inputOfThrown(error), { error }),
    );
    this.advance('suspended');
  }

  /** A turn that runs again answers a request with the reply that an earlier attempt has got. */
  async #requestAuthorization(context: TurnContext, request: AuthorizationRequest): Promise<Authorization> {
    const authorizations = await this.#context.authorizations.get();
    const claim = this.#log?.claim;
    if (claim && context.attempt > 1) {
      this.#replies ??= authorizations.repliesFor(claim, {
        records: () => context.previousEvents(),
        patience: context.patience,
      });
      const reply = await this.#replies.take(request);
      if (reply?.kind === 'denied') throw new AuthorizationError('denied');
      if (reply !== undefined) return { parameters: reply.parameters };
    }
    const turn: AskingTurn = {
      turn: this,
      context,
      patience: context.patience,
      message: this.message,
      caller: this.#caller,
      publish: (question) => this.#publishAuthorization(question),
    };
    return authorizations.ask(turn, request);
  }

  async #publishAuthorization(question: Question | undefined): Promise<void> {
    if (question === undefined) return this.accept(statusEvent(this, 'TASK_STATE_WORKING'), true);
    const message: Message = { ...question, role: 'ROLE_AGENT', taskId: this.taskId, contextId: this.contextId };
    const published = this.accept(statusEvent(this, 'TASK_STATE_AUTH_REQUIRED', message), true);
    if (this.#owner.closing) this.yieldToShutdown();
    return published;
  }

  /** An agent that has published AUTH_REQUIRED by itself goes on: the engine does not know what it waits for. */
  get #awaitsAuthorization(): boolean {
    if (this.#state !== 'asking' && this.#state !== 'storing asking') return false;
    return this.#context.authorizations.loaded?.isAsked({ scope: this.scope, id: this.taskId }) === true;
  }

  /** Ends a turn that waits for an authorization: a message of the caller takes its place. False if it goes on. */
  yieldToMessage(): boolean {
    const before = this.#state;
    if (before === 'asking' && !this.#awaitsAuthorization) return false;
    this.advance('replaced');
    return this.#state !== before;
  }

  /** Tells the storage that the agent is about to be called. A storage that fails is asked again. */
  async #countAttempt(): Promise<void> {
    const { storage, clock, logger } = this.#context;
    const { held, claim } = this.#log ?? {};
    if (!held || !claim) return;
    try {
      const renewal = await storage.begin(held, claim.attempt);
      if (!renewal.held) return void this.advance('not held');
      if (renewal.cancel) this.cancel(renewal.cancel);
      this.advance('run');
    } catch (error) {
      logger[failureLevel(error)]('beginning a turn failed, trying again', { taskId: this.taskId, error });
      clock.after(BEGIN_RETRY_MS, () => this.advance('begin'));
    }
  }

  #store(): void {
    const { patience } = this.#context;
    if (this.#draft === undefined) return;
    this.#log ??= new TurnLog(this.#context, this);
    const timer = patience.start(() => this.advance('store overdue'));
    this.#owner.storing(this);
    storeDraft(this.#context, this.#draft).then(
      (claim) => {
        patience.stop(timer);
        this.advance('stored', { claim });
      },
      (error: unknown) => {
        patience.stop(timer);
        this.advance('store failed', { error });
      },
    );
  }

  #open({ claim }: Given): void {
    if (claim === undefined) return;
    this.#cancel ??= claim.cancel;
    this.#log?.open(claim);
    this.#owner.stored(this);
  }

  #flush(): void {
    const flushed = () => this.advance('flushed');
    this.flush().then(flushed, flushed);
  }

  #release(claim: Claim | undefined, how: ReleaseHow): void {
    if (claim === undefined) return;
    attempt(() => this.#context.storage.release({ ...heldTurn(claim), attempt: claim.attempt }, how)).then(
      () => this.advance('released'),
      (error: unknown) => this.advance('release failed', { error }),
    );
  }

  #answer(content: TurnAnswer, { event, claim, error }: Given): void {
    switch (content) {
      case 'reply': {
        if (event === undefined || !('message' in event)) return;
        const { taskId: _none, ...reply } = event.message;
        return this.#opening?.resolve({ reply });
      }
      case 'claim':
        return claim && this.#opening?.resolve({ claim });
      case 'error':
        return this.#opening?.reject(error);
      case 'closing':
        return this.#opening?.reject(closingError());
      case 'stalled':
        return this.#opening?.reject(storageStalledError());
    }
  }

  #startTimer(timer: TurnTimer): void {
    this.#stopTimer();
    this.#timers = this.#context[TIMERS[timer]];
    this.#timer = this.#timers.start(() => {
      this.#timer = undefined;
      this.advance(timer);
    });
  }

  #stopTimer(): void {
    if (this.#timer) this.#timers?.stop(this.#timer);
    this.#timer = undefined;
  }

  #refuse(): Promise<never> {
    this.#refusal ??= ignoreRejection(Promise.reject(new TurnOverError()));
    return this.#refusal;
  }

  /** Saves a checkpoint. If that fails, the agent may go on all the same. */
  async #saveCheckpoint(value: JsonValue, checkpoint: TurnCheckpoint): Promise<void> {
    try {
      await checkpoint.save(this.own(value));
    } catch (error) {
      this.#agent?.refused(error);
      if (acceptsEvents(this.#state))
        this.#context.logger[levelOfThrown(error)]('a checkpoint was not saved', { taskId: this.taskId, error });
      throw error;
    }
  }
}

const TIMERS = { deadline: 'deadlines', expiry: 'expiries', grace: 'graces' } as const;
