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
import type { FullPlaces, KeyedPlacesOptions } from '../../runtime/keyed-places.js';
import { attempt } from '../../runtime/settled.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { CallerContext, CallerUser } from '../../store/caller-context.js';
import type { Claim, Lease } from '../../store/held-turn.js';
import type { IdempotencyKey, Remembered } from '../../store/idempotency-keys.js';
import type { StoredPushConfig } from '../../store/push-storage.js';
import type { Scope, TaskKey } from '../../store/task-key.js';
import type { Acceptance, AcceptOutcome } from '../../store/task-storage.js';
import type { Idempotency } from '../idempotency.js';
import type { PushConfigurations } from '../push-configurations.js';
import type { ServerCallContext } from '../server-call-context.js';
import { acceptedSurely, type Draft, type Opening, OvertakenDraftError } from './draft.js';
import type { EngineContext } from './engine-context.js';
import type { RunningTurns } from './running-turns.js';
import { timestampAt } from './timestamp.js';
import { closingError, storageStalledError } from './unavailable-errors.js';

const NONE: readonly string[] = Object.freeze([]);
const BUSY_RETRY_MS = 1_000;
/** The pause between two looks at a key that another process has reserved. */
const RESERVED_LOOK_MS = 250;

/** A checked message with the id of its task. Nothing is stored yet. */
export interface Envelope {
  readonly scope: Scope;
  readonly message: Message;
  readonly caller: CallerContext;
  /** The id of the task, also of one that is yet to be created. */
  readonly taskId: string;
  /** The task to create. Absent for a message to an existing task. */
  readonly task: (Task & { readonly contextId: string }) | undefined;
  readonly key: IdempotencyKey | undefined;
  /** Names the caller in limits. */
  readonly callerKey: string | undefined;
  /** The webhook that comes with the message. */
  readonly pushConfig: StoredPushConfig | undefined;
  /** Called when the message is stored, or when its agent decides about it. */
  readonly takenIn: (() => void) | undefined;
}

/** The result of taking a message in. */
export type Submission =
  | { readonly kind: 'reply'; readonly message: Message }
  /**
   * `claim` is present if this process runs the turn. `start` begins it, if it has not begun yet. `isNext`: this process
   * runs it as soon as the turn before it has left.
   */
  | {
      readonly kind: 'turn';
      readonly turn: number;
      readonly claim: Claim | undefined;
      readonly isNext: boolean;
      readonly start?: () => void;
    }
  | { readonly kind: 'repeat'; readonly taskId: string; readonly turn: number };

/** Other parts of the engine that take messages in. */
export interface IntakeOptions {
  readonly turns: RunningTurns;
  readonly idempotency: Idempotency;
  /** Absent: the agent sends no push notifications. */
  readonly push: PushConfigurations | undefined;
}

/**
 * The key of a message whose agent decides. It is reserved, extended and given back under one lease: the process may
 * get another id meanwhile.
 */
interface ReservedKey {
  readonly scope: Scope;
  readonly key: IdempotencyKey;
  readonly lease: Lease;
}

/** Takes messages in. Refuses a wrong message before anything is stored. */
export class MessageIntake {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;
  readonly #idempotency: Idempotency;
  readonly #push: PushConfigurations | undefined;
  /** Running replies, for repeats that arrive before the first is answered. */
  readonly #pending = new TransientMap<string, { digest: string; result: Promise<Submission> }>();

  constructor(context: EngineContext, { turns, idempotency, push }: IntakeOptions) {
    this.#context = context;
    this.#turns = turns;
    this.#idempotency = idempotency;
    this.#push = push;
  }

  /**
   * Checks a message.
   * @throws A2AError for errors that show without a look at any task.
   */
  envelope(request: SendMessageRequest, context: ServerCallContext): Envelope {
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
    const caller = callerContext(request, context, limits.listItems);
    const key = this.#idempotency.keyOf(scope, request.message);
    const { referenceTaskIds, extensions } = request.message;
    const hasLists = referenceTaskIds !== undefined || extensions !== undefined;
    const message = hasLists ? withShortLists(request.message, limits.listItems) : request.message;
    const { takenIn, caller: callerKey } = context;
    const envelope = { scope, message, caller, key, callerKey, takenIn, pushConfig };
    if (message.taskId) return { ...envelope, taskId: message.taskId, task: undefined };
    const { newTask } = context;
    const taskId = newTask?.taskId ?? ids.ordered();
    // Ordered ids, like those of tasks: stores keep indexes by them.
    const contextId = message.contextId || (newTask?.contextId ?? ids.ordered());
    const task = {
      id: taskId,
      contextId,
      status: { state: 'TASK_STATE_SUBMITTED' as const, timestamp: timestampAt(clock.now()) },
      history: [{ ...message, taskId, contextId }],
    };
    return { ...envelope, taskId, task };
  }

  /**
   * Stores the message, or runs an agent that decides about storing first. The turn starts when the caller calls
   * `start`. A sender may hear UNAVAILABLE before the message is stored. Such a message is processed all the same.
   * @param startsNone True for a message that starts no turn, and needs no free place.
   */
  submit(envelope: Envelope, startsNone = false): Promise<Submission> {
    const { task, key, callerKey } = envelope;
    const { executor, patience, storage, turnPlaces } = this.#context;
    if (task && executor.replies === 'either') {
      envelope.takenIn?.();
      return key ? this.#decideOnce(envelope, task, key) : this.#decide(envelope, { task });
    }
    const full = startsNone ? turnPlaces.add(callerKey) : turnPlaces.take(callerKey);
    if (full !== undefined) return this.#submitBeyond(envelope, full);
    const { promise, resolve, reject } = Promise.withResolvers<Submission>();
    let late = false;
    const timer = patience.start(() => {
      late = true;
      reject(storageStalledError());
    });
    const arrival = this.#turns.expect({ scope: envelope.scope, id: envelope.taskId });
    const answered = () => {
      patience.stop(timer);
      arrival.end();
      // The turn has a place of its own.
      turnPlaces.give(callerKey);
    };
    const acceptance = this.#acceptance(envelope);
    let accepting: Promise<AcceptOutcome>;
    // As `attempt` does, without its function on the path of each message.
    try {
      accepting = storage.accept(acceptance);
    } catch (error) {
      accepting = Promise.reject(error);
    }
    acceptedSurely(storage, acceptance, accepting).then(
      (outcome) => {
        try {
          envelope.takenIn?.();
          const submission = this.#accepted(envelope, outcome, arrival.sentAt);
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

  /** Takes in a message for which there is no place, if it starts no turn: a repeat, or a message that waits. */
  async #submitBeyond(envelope: Envelope, full: FullPlaces): Promise<Submission> {
    const { storage, turnPlaces } = this.#context;
    const { scope, key, taskId, task } = envelope;
    const waits = task === undefined && this.#turns.runs({ scope, id: taskId });
    const isRepeat = key !== undefined && (await storage.keys.recall(scope, key.key)) !== undefined;
    if (waits || isRepeat) return this.submit(envelope, true);
    throw tooManyTurns(full, turnPlaces.limits);
  }

  #acceptance({ scope, message, caller, taskId, task, key, pushConfig }: Envelope): Acceptance {
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

  #accepted(envelope: Envelope, outcome: AcceptOutcome, sentAt: number): Submission {
    const { taskId } = envelope;
    switch (outcome.kind) {
      case 'accepted': {
        const { turn, claim } = outcome;
        const admitted = claim && this.#turns.admit(claim, sentAt, envelope.callerKey);
        const key = { scope: envelope.scope, id: taskId };
        const running = claim ? undefined : this.#turns.of(key);
        const isNext = running?.yieldToMessage() === true;
        if (!claim && !running) void this.#tellElsewhere(key);
        return { kind: 'turn', turn, claim, isNext, ...(admitted && { start: () => this.#turns.start(admitted) }) };
      }
      case 'repeated':
        this.#idempotency.check(outcome.first, envelope.key);
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
        // Only messages with a configuration are refused so.
        throw (this.#push as PushConfigurations).noRoom(taskId);
    }
  }

  /** A turn in another process that waits for an authorization gives way to the message. */
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

  /** Answers a repeat that comes while the first is being answered like the first. */
  async #decideOnce(
    envelope: Envelope,
    task: Task & { readonly contextId: string },
    key: IdempotencyKey,
  ): Promise<Submission> {
    const { tenant, owner } = envelope.scope;
    const place = JSON.stringify([tenant, owner, key.key]);
    const running = this.#pending.get(place);
    if (running) {
      this.#idempotency.check(running, key);
      const first = await running.result;
      return first.kind === 'turn' ? { kind: 'repeat', taskId: first.claim?.task.id ?? '', turn: first.turn } : first;
    }
    // After an early error, repeats get the same one until the outcome is known: the agent runs once.
    const { promise: result, resolve, reject } = Promise.withResolvers<Submission>();
    this.#pending.set(place, { digest: key.digest, result });
    this.#recallOrDecide(envelope, { task, key, overdue: reject })
      .finally(() => this.#pending.delete(place))
      .then(resolve, reject);
    return result;
  }

  /** A process that has lost its reservation answers with the outcome of the process that has it now. */
  async #recallOrDecide(
    envelope: Envelope,
    { task, key, overdue }: Required<Pick<Draft, 'task' | 'overdue'>> & { readonly key: IdempotencyKey },
  ): Promise<Submission> {
    const { storage } = this.#context;
    const { scope } = envelope;
    let isTold = false;
    const tellOverdue = (error: A2AError) => {
      isTold = true;
      overdue(error);
    };
    for (;;) {
      const { lease } = this.#context.node;
      const reserved = { scope, key, lease };
      const first = storage.shared ? await this.#reserve(reserved) : await storage.keys.recall(scope, key.key);
      if (first) {
        this.#idempotency.check(first, key);
        return repeat(first);
      }
      const reservation = storage.shared ? this.#keepReserved(reserved) : undefined;
      try {
        const submission = await this.#decide(envelope, {
          task,
          overdue: tellOverdue,
          ...(storage.shared && { reservation: lease }),
        });
        if (submission.kind !== 'reply') return submission;
        return repeat(await storage.keys.remember(scope, key, submission.message));
      } catch (error) {
        await reservation?.giveBack();
        // A caller who was told to try again does not wait for another process.
        if (isTold || !(error instanceof OvertakenDraftError)) throw error;
      } finally {
        reservation?.end();
      }
    }
  }

  /** Reserves a key, or waits while another process finds out its outcome. Resolves to the outcome, if it is known. */
  async #reserve({ scope, key, lease }: ReservedKey): Promise<Remembered | undefined> {
    const { storage, clock } = this.#context;
    for (;;) {
      const reservation = await storage.keys.reserve(scope, key, lease);
      if (reservation.kind === 'known') return reservation.first;
      if (reservation.kind === 'reserved') return undefined;
      this.#idempotency.check(reservation, key);
      if (this.#turns.closing) throw closingError();
      await new Promise<void>((resolve) => void clock.after(RESERVED_LOOK_MS, resolve));
    }
  }

  /** Extends a reservation while its agent decides. `giveBack`: the message has no outcome. */
  #keepReserved({ scope, key, lease }: ReservedKey): { end(): void; giveBack(): Promise<void> } {
    const { storage, clock, limits } = this.#context;
    const unreserve = () => attempt(() => storage.keys.unreserve(scope, key.key, lease.node));
    let isOver = false;
    let stopTimer: (() => void) | undefined;
    const next = () => {
      stopTimer = clock.after(limits.heartbeatMs, () => {
        attempt(() => storage.keys.reserve(scope, key, lease))
          // The key may have been given back while this call was under way.
          .then(() => (isOver ? unreserve() : undefined))
          .catch(ignore)
          .finally(() => isOver || next());
      });
    };
    const end = () => {
      isOver = true;
      stopTimer?.();
    };
    next();
    return {
      end,
      giveBack: () => {
        // An extension after this call would reserve the key anew.
        end();
        return unreserve().catch(ignore);
      },
    };
  }

  async #decide(
    envelope: Envelope,
    { task, overdue, reservation }: Pick<Draft, 'task' | 'overdue' | 'reservation'>,
  ): Promise<Submission> {
    const { turnPlaces } = this.#context;
    const { scope, message, caller, callerKey, key, pushConfig } = envelope;
    const full = turnPlaces.full(callerKey);
    if (full !== undefined) throw tooManyTurns(full, turnPlaces.limits);
    const opening = Promise.withResolvers<Opening>();
    this.#turns.draft({
      scope,
      message,
      caller,
      callerKey,
      task,
      opening,
      ...(pushConfig && { pushConfig }),
      ...(key && { idempotency: key }),
      ...(reservation && { reservation }),
      ...(overdue && { overdue }),
    });
    const opened = await opening.promise;
    if ('reply' in opened) return { kind: 'reply', message: opened.reply };
    return { kind: 'turn', turn: opened.claim.turn, claim: opened.claim, isNext: false };
  }
}

function tooManyTurns(full: FullPlaces, { perKey, total }: KeyedPlacesOptions): A2AError {
  const message =
    full === 'key'
      ? `Too many turns: ${perKey} of this caller run. Wait until one of them ends`
      : `Too many turns: ${total} run on this server. Try again later`;
  return new A2AError('RESOURCE_EXHAUSTED', message, { metadata: { limit: 'turns' }, retryAfterMs: BUSY_RETRY_MS });
}

function callerContext(
  { configuration, metadata }: SendMessageRequest,
  context: ServerCallContext,
  listItems: number,
): CallerContext {
  const { extensions, version, user, traceparent } = context;
  const caller: { -readonly [Name in keyof CallerContext]: CallerContext[Name] } = {
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

/** The facts about a user for its turn. The credential and its end stay behind. `undefined` if there is only an id. */
function knownOf({ name, schemes, scopes, permissions, metadata }: User): CallerUser | undefined {
  if (scopes === undefined && permissions === undefined && metadata === undefined) {
    if (schemes === undefined) return name ? { name } : undefined;
    return name ? { name, schemes: [...schemes] } : { schemes: [...schemes] };
  }
  return cloneJson({ name, schemes, scopes, permissions, metadata } as CallerUser);
}

/** The message, with each reference and extension once. */
function withShortLists(message: Message, most: number): Message {
  const { referenceTaskIds, extensions } = message;
  return {
    ...message,
    ...(referenceTaskIds && { referenceTaskIds: shortList('message.referenceTaskIds', referenceTaskIds, most) }),
    ...(extensions && { extensions: shortList('message.extensions', extensions, most) }),
  };
}

/**
 * The list without repetitions; the same list if there are none.
 * @throws InvalidParamsError if more than `most` are left: each may cost as much as a task.
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

/** A reservation that is not extended or given back ends with its lease. */
function ignore(): void {}

function repeat({ outcome }: Remembered): Submission {
  if ('reply' in outcome) return { kind: 'reply', message: outcome.reply };
  return { kind: 'repeat', taskId: outcome.taskId, turn: outcome.turn };
}
