import type { User } from '../../auth/user.js';
import { A2AError } from '../../errors/a2a-error.js';
import {
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '../../errors/spec-errors.js';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import { failureLevel } from '../../errors/storage-error.js';
import { cloneJson } from '../../model/clone-json.js';
import type { Message } from '../../model/message.js';
import type { SendMessageRequest } from '../../model/send-message-request.js';
import type { Task } from '../../model/task.js';
import type { FullPlaces } from '../../runtime/keyed-places.js';
import type { CallerContext, CallerUser } from '../../store/caller-context.js';
import type { Claim } from '../../store/held-turn.js';
import type { IdempotencyKey } from '../../store/idempotency-keys.js';
import type { StoredPushConfig } from '../../store/push-storage.js';
import type { Scope, TaskKey } from '../../store/task-key.js';
import type { Acceptance, AcceptOutcome } from '../../store/task-storage.js';
import { callTrace } from '../../task/attempt-trace.js';
import { isSampled } from '../../telemetry/tracing.js';
import type { Idempotency } from '../idempotency.js';
import type { PushConfigurations } from '../push-configurations.js';
import type { ServerCallContext } from '../server-call-context.js';
import { BUSY_RETRY_MS, DraftIntake, repeat, tooManyTurns } from './draft-intake.js';
import type { EngineContext } from './engine-context.js';
import type { RunningTurns } from './running-turns.js';
import { timestampAt } from './timestamp.js';
import { closingError, storageStalledError } from './unavailable-errors.js';

const NONE: readonly string[] = Object.freeze([]);

/** A checked message with the id of its task. Nothing is stored yet. */
export interface ReceivedMessage {
  readonly scope: Scope;
  readonly message: Message;
  readonly caller: CallerContext;
  /** The id of the task, or of the task to create. */
  readonly taskId: string;
  /** The task to create. Absent for a message to an existing task. */
  readonly task: (Task & { readonly contextId: string }) | undefined;
  readonly key: IdempotencyKey | undefined;
  /** Identifies the caller in limits. */
  readonly callerKey: string | undefined;
  /** The push configuration in the request. */
  readonly pushConfig: StoredPushConfig | undefined;
  /** Called when the message is stored, or when its agent starts to decide. */
  readonly takenIn: (() => void) | undefined;
}

/** The result of a submitted message. */
export type Submission =
  | { readonly kind: 'reply'; readonly message: Message }
  /**
   * `claim` is set if this process runs the turn. `start` starts it, if needed. `isNext`: this process runs it after
   * the turn before it.
   */
  | {
      readonly kind: 'turn';
      readonly turn: number;
      readonly claim: Claim | undefined;
      readonly isNext: boolean;
      readonly start?: () => void;
    }
  | { readonly kind: 'repeat'; readonly taskId: string; readonly turn: number };

/** Other parts of the engine that intake uses. */
export interface IntakeOptions {
  readonly turns: RunningTurns;
  readonly idempotency: Idempotency;
  /** Absent: the agent sends no push notifications. */
  readonly push: PushConfigurations | undefined;
}

/** Accepts messages. Refuses an invalid message before anything is stored. */
export class MessageIntake {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;
  readonly #idempotency: Idempotency;
  readonly #push: PushConfigurations | undefined;
  readonly #drafts: DraftIntake;

  constructor(context: EngineContext, { turns, idempotency, push }: IntakeOptions) {
    this.#context = context;
    this.#turns = turns;
    this.#idempotency = idempotency;
    this.#push = push;
    this.#drafts = new DraftIntake(context, { turns, idempotency });
  }

  /**
   * Checks a message without reading any task.
   * @throws A2AError if it is invalid.
   */
  receive(request: SendMessageRequest, context: ServerCallContext): ReceivedMessage {
    const { agent, ids, clock, limits } = this.#context;
    const { configuration } = request;
    if (this.#turns.closing) throw closingError();
    if (request.message.role !== 'ROLE_USER') {
      throw new InvalidParamsError([{ field: 'message.role', description: 'must be ROLE_USER' }]);
    }
    const webhook = configuration?.taskPushNotificationConfig;
    if (webhook && !this.#push) throw new PushNotificationNotSupportedError();
    const pushConfig = webhook && this.#push?.ofMessage(webhook, context.version);
    const scope: Scope = { agent, tenant: request.tenant ?? '', owner: context.user?.id ?? null };
    const now = clock.now();
    const caller = callerContext(request, context, limits.listItems);
    caller.acceptedAt = now;
    const isTraced = this.#context.turnPorts.tracing?.isOn === true;
    if (isTraced) addTraceState(caller, context);
    const key = this.#idempotency.keyOf(scope, request.message);
    const { referenceTaskIds, extensions } = request.message;
    const hasLists = referenceTaskIds !== undefined || extensions !== undefined;
    const message = hasLists ? withShortLists(request.message, limits.listItems) : request.message;
    const { takenIn, caller: callerKey } = context;
    const received = { scope, message, caller, key, callerKey, takenIn, pushConfig };
    if (message.taskId) return { ...received, taskId: message.taskId, task: undefined };
    const { newTask } = context;
    const taskId = newTask?.taskId ?? ids.ordered();
    // Ordered ids, like those of tasks: stores keep indexes by them.
    const contextId = message.contextId || (newTask?.contextId ?? ids.ordered());
    const task = {
      id: taskId,
      contextId,
      status: { state: 'TASK_STATE_SUBMITTED' as const, timestamp: timestampAt(now) },
      history: [{ ...message, taskId, contextId }],
      // Deliveries of the task may be sent before the first event of its agent.
      ...(isTraced && isSampled(context.traceparent) && { metadata: callTrace(context.traceparent, now) }),
    };
    return { ...received, taskId, task };
  }

  /**
   * Stores the message, or runs an agent that decides whether to store it. The turn starts when the caller calls
   * `start`. A sender may get UNAVAILABLE before the message is stored; the message is still processed.
   * @param startsNone True for a message that starts no turn, and needs no free place.
   */
  submit(received: ReceivedMessage, startsNone = false): Promise<Submission> {
    const { task, key, callerKey } = received;
    const { executor, patience, storage, turnPlaces } = this.#context;
    if (task && executor.replies === 'either') {
      received.takenIn?.();
      return key ? this.#drafts.decideOnce(received, task, key) : this.#drafts.decide(received, { task });
    }
    const full = startsNone ? turnPlaces.add(callerKey) : turnPlaces.take(callerKey);
    if (full !== undefined) return this.#submitBeyond(received, full);
    const { promise, resolve, reject } = Promise.withResolvers<Submission>();
    let late = false;
    const timer = patience.start(() => {
      late = true;
      reject(storageStalledError());
    });
    const arrival = this.#turns.registerArrival({ scope: received.scope, id: received.taskId });
    const answered = () => {
      patience.stop(timer);
      arrival.end();
      // The turn has acquired its own place.
      turnPlaces.give(callerKey);
    };
    const acceptance = this.#acceptance(received);
    let accepting: Promise<AcceptOutcome>;
    // The same as `attempt`, without its closure in the path of every message.
    try {
      accepting = storage.accept(acceptance);
    } catch (error) {
      accepting = Promise.reject(error);
    }
    accepting.then(
      (outcome) => {
        try {
          received.takenIn?.();
          const submission = this.#accepted(received, outcome, arrival.sentAt);
          if (late && submission.kind === 'turn') submission.start?.();
          resolve(submission);
        } catch (error) {
          reject(error);
        }
        answered();
      },
      (error: unknown) => {
        answered();
        reject(error);
      },
    );
    return promise;
  }

  /** Accepts a message without a free place if it starts no turn: a repeat, or a message that waits. */
  async #submitBeyond(received: ReceivedMessage, full: FullPlaces): Promise<Submission> {
    const { storage, turnPlaces } = this.#context;
    const { scope, key, taskId, task } = received;
    const waits = task === undefined && this.#turns.runs({ scope, id: taskId });
    const isRepeat = key !== undefined && (await storage.keys.recall(scope, key.key)) !== undefined;
    if (waits || isRepeat) return this.submit(received, true);
    throw tooManyTurns(full, turnPlaces.limits);
  }

  #acceptance({ scope, message, caller, taskId, task, key, pushConfig }: ReceivedMessage): Acceptance {
    const { node, limits } = this.#context;
    return {
      scope,
      message,
      caller,
      task: task
        ? { create: task, isContextNew: !message.contextId }
        : { id: taskId, ...(message.contextId && { contextId: message.contextId }) },
      claim: node.lease,
      ...(pushConfig && this.#push && { pushConfig, pushConfigLimit: this.#push.limit }),
      ...(key && { idempotency: key }),
      waitingLimit: limits.waitingMessages,
    };
  }

  #accepted(received: ReceivedMessage, outcome: AcceptOutcome, sentAt: number): Submission {
    const { taskId } = received;
    switch (outcome.kind) {
      case 'accepted': {
        const { turn, claim } = outcome;
        const admitted = claim && this.#turns.admit(claim, sentAt, received.callerKey);
        const key = { scope: received.scope, id: taskId };
        const running = claim ? undefined : this.#turns.of(key);
        const isNext = running?.yieldToMessage() === true;
        if (!claim && !running) void this.#tellElsewhere(key);
        return { kind: 'turn', turn, claim, isNext, ...(admitted && { start: () => this.#turns.start(admitted) }) };
      }
      case 'repeated':
        this.#idempotency.check(outcome.first, received.key);
        return repeat(outcome.first);
      case 'reserved':
        throw new A2AError('RESOURCE_EXHAUSTED', 'The same message is being answered', { retryAfterMs: BUSY_RETRY_MS });
      case 'not-found':
        throw new TaskNotFoundError(taskId);
      case 'terminal':
        throw new UnsupportedOperationError('the task has ended', { metadata: { taskId } });
      case 'other-context':
        throw new InvalidParamsError([
          { field: 'message.contextId', description: 'is not the context of the task in message.taskId' },
        ]);
      case 'full':
        throw new A2AError('RESOURCE_EXHAUSTED', 'Too many messages wait for this task', {
          metadata: { taskId, limit: 'waitingMessages' },
          retryAfterMs: BUSY_RETRY_MS,
        });
      case 'configs-full':
        // Only messages with a push configuration get this refusal.
        throw (this.#push as PushConfigurations).noRoom(taskId);
    }
  }

  /** A turn in another process that waits for an authorization is replaced by the message. */
  async #tellElsewhere(key: TaskKey): Promise<void> {
    const { storage, authorizations, logger } = this.#context;
    if (!storage.shared) return;
    try {
      const [head] = await storage.heads([key]);
      if (head?.state !== 'TASK_STATE_AUTH_REQUIRED') return;
      await (await authorizations.get()).yieldElsewhere(key, head.lastTurn);
    } catch (error) {
      logger[failureLevel(error)]('a message waits for a turn elsewhere', { taskId: key.id, error });
    }
  }
}

/** With tracing, the call context contains only the entries that may be stored. */
function addTraceState(caller: Writable<CallerContext>, { tracestate, baggage }: ServerCallContext): void {
  if (tracestate) caller.tracestate = tracestate;
  if (baggage) caller.baggage = baggage;
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

function callerContext(
  { configuration, metadata }: SendMessageRequest,
  context: ServerCallContext,
  listItems: number,
): Writable<CallerContext> {
  const { extensions, version, user, traceparent } = context;
  const caller: Writable<CallerContext> = {
    extensions: extensions.length === 0 ? NONE : [...extensions],
    version,
  };
  const known = user && knownOf(user);
  if (known) caller.user = known;
  const modes = configuration?.acceptedOutputModes;
  if (modes) caller.acceptedOutputModes = shortList('configuration.acceptedOutputModes', modes, listItems);
  if (metadata) caller.requestMetadata = metadata;
  if (traceparent) caller.traceparent = traceparent;
  return caller;
}

/** Returns the properties of a user for its turn, without credential and expiry. `undefined` if there is only an id. */
function knownOf({ name, schemes, scopes, permissions, metadata }: User): CallerUser | undefined {
  if (scopes === undefined && permissions === undefined && metadata === undefined) {
    if (schemes === undefined) return name ? { name } : undefined;
    return name ? { name, schemes: [...schemes] } : { schemes: [...schemes] };
  }
  return cloneJson({ name, schemes, scopes, permissions, metadata } as CallerUser);
}

/** Returns the message with duplicate references and extensions removed. */
function withShortLists(message: Message, most: number): Message {
  const { referenceTaskIds, extensions } = message;
  return {
    ...message,
    ...(referenceTaskIds && { referenceTaskIds: shortList('message.referenceTaskIds', referenceTaskIds, most) }),
    ...(extensions && { extensions: shortList('message.extensions', extensions, most) }),
  };
}

/**
 * Returns the list without duplicates; the same list if there are none.
 * @throws InvalidParamsError for more than `most` items: each may cost as much as a task.
 */
function shortList(field: string, list: readonly string[], most: number): readonly string[] {
  if (list.length < 2) return list;
  const different = new Set(list);
  if (different.size > most) {
    throw new InvalidParamsError(
      [{ field, description: `must not have more than ${most} different items` }],
      'listItems',
    );
  }
  return different.size === list.length ? list : [...different];
}
