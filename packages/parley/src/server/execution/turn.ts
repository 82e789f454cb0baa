import { failureLevel } from '../../errors/storage-error.js';
import type { TokenBudgetError } from '../../errors/token-budget-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import type { EqualTimers, RunningTimer } from '../../runtime/equal-timers.js';
import { attempt, ignoreRejection, SETTLED } from '../../runtime/settled.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { CancelRequest, Claim, HeldTurn, ReleaseHow } from '../../store/held-turn.js';
import { mergeCancels } from '../../store/held-turn.js';
import type { Scope } from '../../store/task-key.js';
import { eventBytes, messageBytes } from '../../task/event-bytes.js';
import { USAGE_EXTENSION, UsageSums } from '../../task/token-usage.js';
import { NO_ANSWER } from '../agent.js';
import type { Authorization, AuthorizationRequest } from '../authorization.js';
import { TurnAbortedError } from '../turn-aborted-error.js';
import { type AddressedMessage, addressMessage, inputOf, readAgentEvent, statusEvent } from './agent-event.js';
import { AgentRun, inputOfThrown, levelOfThrown } from './agent-run.js';
import { cloneJson } from './clone-json.js';
import { answerDraft, type Draft, type DraftResult, storeDraft } from './draft.js';
import type { EngineContext } from './engine-context.js';
import { keptIn, TurnCheckpoint } from './turn-checkpoint.js';
import { TurnContext } from './turn-context.js';
import type { TurnCourseOptions } from './turn-course.js';
import { type EventSink, TurnEvents, TurnOverError } from './turn-events.js';
import { heldTurn } from './turn-log.js';
import {
  acceptsEvents,
  hasLeft,
  type TurnEffect,
  type TurnInput,
  type TurnState,
  type TurnTimer,
} from './turn-state.js';
import { TurnTrace } from './turn-trace.js';
import { IMPOSSIBLE, TRANSITIONS } from './turn-transitions.js';
import { TurnWriter, type WrittenTurn } from './turn-writer.js';
import { storageStalledError } from './unavailable-errors.js';

const BEGIN_RETRY_MS = 1_000;

/** The end of a turn in this process. */
export interface TurnEnd {
  /** True if another process may write the turn. */
  readonly isLost: boolean;
  /** Number of waiting messages of the task. */
  readonly waiting: number;
}

/** The list that contains a turn. */
export interface TurnOwner {
  /** Called before the task of a draft is stored on a shared storage. Its lease may begin from then on. */
  storing(turn: Turn): void;
  /** Called once, when this process no longer writes the turn. */
  ended(turn: Turn, end: TurnEnd): void;
}

/** A new turn: of a stored task, or a draft. */
export type TurnStart = { readonly claim: Claim; readonly callerKey: string | undefined } | { readonly draft: Draft };

/** The data of an input, for its effects. */
interface Given extends DraftResult {
  readonly bytes?: number;
  readonly waiting?: number;
  /** The text of a failure. */
  readonly text?: string;
}

const NONE: Given = {};

/**
 * The run of an agent on one message. The table in `turn-transitions.ts` makes all decisions: this class looks up each
 * input in the table, and executes its effects.
 */
export class Turn implements EventSink, WrittenTurn {
  readonly taskId: string;
  readonly contextId: string;
  readonly scope: Scope;
  /** The message that the turn answers. */
  readonly message: AddressedMessage;
  readonly caller: CallerContext;
  /** Identifies the caller in limits. */
  readonly callerKey: string | undefined;
  /** The traces of the turn. Absent if the server has no tracing. */
  readonly trace: TurnTrace | undefined;
  /** The end of its lease by the monotonic clock. Absent on a storage of one process. */
  leaseEnd: number | undefined;
  /** See `usage`. Absent if neither this turn nor an earlier attempt has counted tokens. */
  counted: UsageSums | undefined;
  readonly #context: EngineContext;
  readonly #owner: TurnOwner;
  readonly #draft: Draft | undefined;
  #state: TurnState;
  /** Absent before the task is stored. */
  #claim: Claim | undefined;
  /** Absent for a draft that has published nothing but a direct message. */
  #writer: TurnWriter | undefined;
  /** Absent before the agent is called. */
  #agent: AgentRun | undefined;
  #agentContext: TurnContext | undefined;
  #checkpoint: TurnCheckpoint | undefined;
  #cancel: CancelRequest | undefined;
  #refusal: Promise<never> | undefined;
  #whenEnded: PromiseWithResolvers<void> | undefined;
  #timers: EqualTimers | undefined;
  #timer: RunningTimer | undefined;

  constructor(context: EngineContext, owner: TurnOwner, start: TurnStart) {
    this.#context = context;
    this.#owner = owner;
    const origin = 'claim' in start ? start.claim : start.draft;
    this.scope = origin.scope;
    this.caller = origin.caller;
    this.taskId = origin.task.id;
    this.contextId = origin.task.contextId ?? '';
    this.message = addressMessage(origin.message, origin.task);
    if (context.turnPorts.tracing?.isOn === true)
      this.trace = new TurnTrace(this.caller, origin.task.metadata, 'draft' in start);
    if ('claim' in start) {
      this.#state = 'claimed';
      this.callerKey = start.callerKey;
      this.#open(start.claim);
    } else {
      this.#state = 'drafted';
      this.callerKey = start.draft.callerKey;
      this.#draft = start.draft;
    }
  }

  /** The turn in the form of the storage; absent before the task is stored. */
  get held(): HeldTurn | undefined {
    return this.#claim && heldTurn(this.#claim);
  }

  /** Metadata from the CancelTask request, merged if several arrived. */
  get cancelMetadata(): CancelRequest['metadata'] {
    return this.#cancel?.metadata;
  }

  /** The tokens of the task and of this turn, including earlier attempts. */
  get usage(): UsageSums {
    const { task, checkpoint, turn = 1 } = this.#claim ?? {};
    const { resumes } = this.caller;
    const number = (resumes === true ? undefined : resumes?.turn) ?? turn;
    this.counted ??= new UsageSums([task?.metadata?.[USAGE_EXTENSION], keptIn(checkpoint)?.[USAGE_EXTENSION]], number);
    return this.counted;
  }

  async saveUsage(): Promise<void> {
    const checkpoint = this.#checkpointOf();
    checkpoint.kept.set(USAGE_EXTENSION, this.usage.state);
    if (this.held !== undefined) await checkpoint.storeAhead();
  }

  overBudget(error: TokenBudgetError): void {
    this.#agent?.refused(error);
    this.advance('over budget', { error, text: error.message });
  }

  /** Resolves when this process no longer writes the turn. */
  get whenEnded(): Promise<void> {
    if (hasLeft(this.#state)) return SETTLED;
    this.#whenEnded ??= Promise.withResolvers<void>();
    return this.#whenEnded.promise;
  }

  /** Handles an input. Returns the promise of an asynchronous effect, if there is one. */
  advance(input: TurnInput, given: Given = NONE): Promise<void> | undefined {
    const next = TRANSITIONS[this.#state][input];
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

  /** Aborts the agent. After the grace period the task is CANCELED, whatever the agent does. */
  cancel(request: CancelRequest): void {
    this.#cancel = mergeCancels(this.#cancel, request);
    this.advance('cancel');
  }

  /** Releases the turn for another process. Resolves when this process no longer writes it. */
  handOver(): Promise<void> {
    const { whenEnded } = this;
    this.advance('hand over');
    return whenEnded;
  }

  /** Releases the turn if it only waits for an authorization, which would not arrive within a grace period. */
  yieldToShutdown(): void {
    if (this.#state === 'kept' || this.#awaitsAuthorization) void this.handOver();
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
    const input = inputOf(event);
    this.#agent?.met(event, input);
    this.trace?.met(event);
    if (event.message === undefined) this.#writer ??= new TurnWriter(this.#context, this);
    const log = this.#writer?.log;
    // A direct message needs no log.
    if (log === undefined) return this.advance(input, { event }) ?? SETTLED;
    const bytes = event.message !== undefined ? messageBytes(event.message) : eventBytes(event);
    const excess = log.excess(bytes);
    if (excess === undefined) return this.advance(input, { event, bytes }) ?? SETTLED;
    return this.advance(excess) ?? Promise.reject(new TurnOverError());
  }

  refuse(error: unknown): Promise<void> {
    const refused = this.advance('invalid', { error });
    if (refused) return refused;
    this.#agent?.refused(error);
    return Promise.reject(error);
  }

  flush(): Promise<void> {
    return this.#writer?.flush() ?? SETTLED;
  }

  /** The progress of the turn, for turn ports. */
  get course(): TurnCourseOptions {
    return {
      turn: this,
      context: this.#context,
      checkpoint: this.#checkpointOf(),
      state: () => this.#state,
      deadline: () => (this.#timers === this.#context.deadlines ? this.#timer : undefined),
    };
  }

  /** Saves a checkpoint of the agent. If that fails, the agent may continue. */
  async saveCheckpoint(value: JsonValue): Promise<void> {
    try {
      await this.#checkpointOf().save(this.own(value));
    } catch (error) {
      this.#agent?.refused(error);
      if (acceptsEvents(this.#state))
        this.#context.logger[levelOfThrown(error)]('a checkpoint was not saved', { taskId: this.taskId, error });
      throw error;
    }
  }

  async requestAuthorization(context: TurnContext, request: AuthorizationRequest): Promise<Authorization> {
    const authorizations = await this.#context.authorizations.get();
    return authorizations.request({ turn: this, context }, request);
  }

  #perform(effect: TurnEffect, given: Given): Promise<void> | undefined {
    switch (effect.do) {
      case 'append event':
        if (given.event && given.event.message !== undefined) return this.#appendMessage(given.event.message);
        return given.event && this.#writer?.append(given.event, given.bytes);
      case 'append status':
        return void this.#appendStatus(effect.state, effect.text);
      case 'append failure':
        return void this.#appendStatus('TASK_STATE_FAILED', given.text);
      case 'finish log':
        return void this.#writer?.finish();
      case 'start timer':
        return void this.#startTimer(effect.timer);
      case 'stop timer':
        return void this.#stopTimer();
      case 'call agent':
        return void this.#callAgent();
      case 'await first step':
        return void queueMicrotask(() => this.advance('first step over'));
      case 'abort agent':
        return void this.#agent?.abort(new TurnAbortedError(effect.why));
      case 'call cancel of agent':
        return void this.#agent?.cancel();
      case 'release agent':
        return void this.#agent?.release();
      case 'count attempt':
        return this.#countAttempt();
      case 'store task':
        this.#writer ??= new TurnWriter(this.#context, this);
        if (this.#context.storage.shared) this.#owner.storing(this);
        return void (this.#draft && storeDraft(this.#context, this.#draft, this));
      case 'open log':
        return void this.#open(given.claim);
      case 'flush log':
        return void this.#flush();
      case 'abandon log':
        return void this.#writer?.close();
      case 'release turn':
        return void this.#release(given.claim ?? this.#claim, effect.how);
      case 'answer':
        return void (this.#draft && answerDraft(this.#draft, effect.with, given));
      case 'tell overdue':
        return void (this.#draft?.overdue ?? this.#draft?.opening.reject)?.(storageStalledError());
      case 'end': {
        const isLost = this.#state === 'lost';
        this.#agent?.ended(isLost || this.#state === 'handed over');
        this.#owner.ended(this, { isLost, waiting: given.waiting ?? 0 });
        return void this.#whenEnded?.resolve();
      }
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

  /** A direct message of a stored turn completes its task. */
  #appendMessage(message: Message): Promise<void> | undefined {
    const { taskId } = this;
    return this.#writer?.append(statusEvent(this, 'TASK_STATE_COMPLETED', { ...message, taskId }));
  }

  /** Appends a status of the engine. Its commit is repeated on failure, so nothing waits for it. */
  #appendStatus(state: TaskState, text: string | undefined): void {
    this.#agent?.reached(state);
    if (this.#writer) ignoreRejection(this.#writer.append(statusEvent(this, state, this.#saying(text))));
  }

  #saying(text: string | undefined): Message | undefined {
    if (text === undefined) return undefined;
    const { taskId, contextId } = this;
    return { messageId: this.#context.ids.random(), role: 'ROLE_AGENT', taskId, contextId, parts: [{ text }] };
  }

  #callAgent(): void {
    const context = new TurnContext(this.#context, this, this.#claim);
    this.#agentContext = context;
    this.#agent = new AgentRun(this.#context, {
      context,
      events: new TurnEvents(this, this.#context.ids),
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
      (end) => {
        if (end === NO_ANSWER) this.#tellEmpty();
        this.#agentEnded(context, 'returned');
      },
      (error: unknown) => this.#agentEnded(context, inputOfThrown(error), { error }),
    );
    this.advance('suspended');
  }

  #agentEnded(context: TurnContext, input: TurnInput, given?: Given): void {
    const settled = this.#state === 'canceling' ? context.settled : undefined;
    if (settled === undefined) this.advance(input, given);
    else void settled.then(() => this.advance(input, given));
  }

  #tellEmpty(): void {
    const fault = 'the agent gave no answer, so the task is empty: return a text or parts, or yield pieces';
    this.#context.logger.warn(fault, { taskId: this.taskId });
  }

  #checkpointOf(): TurnCheckpoint {
    this.#checkpoint ??= new TurnCheckpoint(this, this.#claim?.checkpoint, (held, stored) => {
      const save = async () => acceptsEvents(this.#state) && this.#context.storage.saveCheckpoint(held, stored);
      return this.#agentContext?.patience.ask(save) ?? save();
    });
    return this.#checkpoint;
  }

  /** If the agent published AUTH_REQUIRED itself, it continues to run: the engine does not track its reason. */
  get #awaitsAuthorization(): boolean {
    if (this.#state !== 'asking' && this.#state !== 'storing asking') return false;
    return this.#context.authorizations.loaded?.isAsked({ scope: this.scope, id: this.taskId }) === true;
  }

  /**
   * Ends a turn that waits for an authorization, because a message of the caller replaces it. Returns false if it
   * continues.
   */
  yieldToMessage(): boolean {
    const before = this.#state;
    if (before === 'asking' && !this.#awaitsAuthorization) return false;
    this.advance('replaced');
    return this.#state !== before;
  }

  /** Counts the attempt in the storage before the agent is called. Repeated during an outage. */
  async #countAttempt(): Promise<void> {
    const { storage, clock, logger } = this.#context;
    const claim = this.#claim;
    if (claim === undefined) return;
    try {
      const renewal = await storage.begin(heldTurn(claim), claim.attempt);
      if (!renewal.held) return void this.advance('not held');
      if (renewal.cancel) this.cancel(renewal.cancel);
      this.advance('run');
    } catch (error) {
      logger[failureLevel(error)]('beginning a turn failed, trying again', { taskId: this.taskId, error });
      clock.after(BEGIN_RETRY_MS, () => this.advance('begin'));
    }
  }

  #open(claim: Claim | undefined): void {
    if (claim === undefined) return;
    this.#claim = claim;
    this.#cancel ??= claim.cancel;
    // An earlier attempt may have counted tokens that no record has.
    if (claim.checkpoint !== undefined) this.counted = this.usage;
    this.#writer ??= new TurnWriter(this.#context, this);
    this.#writer.open(claim);
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

  /** One promise for all refused events, however many an agent publishes. */
  #refuse(): Promise<never> {
    this.#refusal ??= ignoreRejection(Promise.reject(new TurnOverError()));
    return this.#refusal;
  }
}

const TIMERS = { deadline: 'deadlines', expiry: 'expiries', grace: 'graces' } as const;
