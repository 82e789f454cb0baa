import type { User } from '../auth/user.js';
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '../errors/spec-errors.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import type { AgentCard } from '../model/agent-card.js';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../model/push-notification-config.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { SendMessageResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SubscribeToTaskRequest,
} from '../model/task-requests.js';
import type { Clock } from '../runtime/clock.js';
import { EqualTimers } from '../runtime/equal-timers.js';
import type { IdSource } from '../runtime/id-source.js';
import { KeyedPlaces } from '../runtime/keyed-places.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import { type UncaughtErrors, unknownOrigin } from '../runtime/uncaught-errors.js';
import type { Scope } from '../store/task-key.js';
import type { StoredTask, TaskStorage } from '../store/task-storage.js';
import type { ArtifactEnd } from '../task/artifact-end.js';
import type { StreamItem } from '../task/stream-item.js';
import { trimTask } from '../task/trim-task.js';
import type { Logger } from '../telemetry/logger.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import type { AgentExecutor } from './agent-executor.js';
import type { AuthorizationReply, SecretSealer } from './authorization.js';
import { BaseRequestHandler } from './base-request-handler.js';
import { DEFAULT_ENGINE_LIMITS, type EngineLimits } from './engine-limits.js';
import { Cancellation } from './execution/cancellation.js';
import { DeferredStream } from './execution/deferred-stream.js';
import type { EngineContext } from './execution/engine-context.js';
import { EngineNode } from './execution/engine-node.js';
import { MessageIntake } from './execution/message-intake.js';
import { HELD_CHUNK_LOOK_MS } from './execution/open-artifacts.js';
import { RunningTurns } from './execution/running-turns.js';
import { steadyStorage, withBoundedConfigurations } from './execution/steady-storage.js';
import { TaskFeeds } from './execution/task-feeds.js';
import { TaskStreams } from './execution/task-streams.js';
import { TurnWaiter } from './execution/turn-waiter.js';
import { unansweredError } from './execution/unavailable-errors.js';
import { WaitingExpiry } from './execution/waiting-expiry.js';
import { Idempotency, type IdempotencyOptions } from './idempotency.js';
import { PushConfigurations } from './push-configurations.js';
import type { PushRegistration } from './push-registration.js';
import type { ServerCallContext } from './server-call-context.js';
import type { TurnPorts } from './turn-ports.js';

const listing = new LoadedOnDemand(() => import('./task-listing.js'));
const UNLIMITED = { perKey: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY };

/** Returns the extended card for a user; `undefined` if the user has none. */
type ExtendedAgentCards = (user: User) => AgentCard | undefined | Promise<AgentCard | undefined>;

/** Options of an engine for one agent. */
export interface DefaultRequestHandlerOptions {
  /** Id of the agent's task space within the storage. */
  readonly agent: string;
  readonly executor: AgentExecutor;
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Maps an uncaught error to the turn of its agent, so that it fails only that task. */
  readonly uncaughtErrors?: UncaughtErrors;
  readonly extendedAgentCard?: ExtendedAgentCards;
  /** HTTP challenges for unauthenticated callers. Default: `Bearer`. */
  readonly challenges?: readonly string[];
  readonly limits?: Partial<EngineLimits>;
  /** The rules for push configurations. Absent: the agent sends no push notifications. */
  readonly push?: PushRegistration;
  readonly idempotency?: IdempotencyOptions;
  /** The update that ends an artifact of several chunks. Default: that of the agent, otherwise `auto`. */
  readonly artifactEnd?: ArtifactEnd;
  /** Concurrency limits of turns by caller, shared by the engines of a process. Default: no limit. */
  readonly turnPlaces?: KeyedPlaces;
  /** Encrypts stored credentials of turns. Absent: they are in memory only. */
  readonly secrets?: SecretSealer;
  /** Services of the server for agents, such as files. Default: none. */
  readonly turnPorts?: TurnPorts;
  /** The public address of the callback endpoint for authorizations, or "" while it is unknown. */
  readonly callbackUrl?: () => string;
  /** The process on the storage, shared by its engines. It renews their leases. Default: a new one. */
  readonly node?: EngineNode;
}

/**
 * The engine of one agent: it runs the agent on messages, stores tasks, and answers every operation from the storage. A
 * process has one for each agent. Several agents may share a storage.
 */
export class DefaultRequestHandler extends BaseRequestHandler {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;
  readonly #intake: MessageIntake;
  readonly #streams: TaskStreams;
  readonly #cancellation: Cancellation;
  readonly #expiry: WaitingExpiry;
  readonly #extendedAgentCard: ExtendedAgentCards | undefined;
  readonly #challenges: readonly string[];
  readonly #push: PushConfigurations | undefined;

  constructor(options: DefaultRequestHandlerOptions) {
    super();
    const { agent, executor, storage, ids, uncaughtErrors = unknownOrigin } = options;
    const logger = steadyLogger(options.logger);
    const node = options.node ?? new EngineNode({ storage, clock: options.clock, ids, logger });
    const { clock } = node;
    const limits = { ...DEFAULT_ENGINE_LIMITS, ...options.limits };
    const feeds = new TaskFeeds();
    const deadlines = new EqualTimers(clock, limits.turnDeadlineMs);
    const graces = new EqualTimers(clock, limits.cancelGraceMs);
    const expiries = new EqualTimers(clock, limits.waitingExpiryMs);
    const patience = new EqualTimers(clock, limits.storagePatienceMs);
    this.#context = {
      agent,
      executor,
      storage: steadyStorage(storage, patience),
      feeds,
      clock,
      deadlines,
      graces,
      expiries,
      patience,
      heldChunks: new EqualTimers(clock, HELD_CHUNK_LOOK_MS),
      artifactEnd: options.artifactEnd ?? executor.artifactEnd ?? 'auto',
      ids,
      callbackUrl: options.callbackUrl,
      authorizations: new LoadedOnDemand(async () => {
        const { Authorizations } = await import('./execution/authorizations.js');
        return new Authorizations(this.#context, this.#turns);
      }),
      secrets: options.secrets,
      uncaughtErrors,
      logger,
      limits,
      turnPorts: options.turnPorts ?? {},
      turnPlaces: options.turnPlaces ?? new KeyedPlaces(UNLIMITED),
      node,
    };
    this.#turns = new RunningTurns(this.#context);
    const bounded = options.push && withBoundedConfigurations(storage, patience);
    this.#push = bounded && new PushConfigurations({ storage: bounded, ids, registration: options.push });
    const idempotency = new Idempotency(options.idempotency ?? {});
    this.#intake = new MessageIntake(this.#context, { turns: this.#turns, idempotency, push: this.#push });
    this.#streams = new TaskStreams(this.#context, this.#intake);
    this.#cancellation = new Cancellation(this.#context, this.#turns);
    this.#expiry = new WaitingExpiry(this.#context);
    this.#extendedAgentCard = options.extendedAgentCard;
    this.#challenges = options.challenges ?? ['Bearer'];
  }

  /** Claims the turns of earlier processes. Must be called before the first request. */
  async start(): Promise<void> {
    await this.#turns.recover();
    this.#expiry.start();
  }

  /** Waits up to `graceMs` (default 0) for running turns, and hands over the rest. Does not close the storage. */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    this.#expiry.stop();
    return this.#context.clock.hold(this.#turns.close(options.graceMs ?? 0));
  }

  /** Running turns and watched tasks, for metrics and tests. */
  get load(): { readonly runningTurns: number; readonly watchedTasks: number } {
    return { runningTurns: this.#turns.running, watchedTasks: this.#context.feeds.size };
  }

  async sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageResponse> {
    const received = this.#intake.receive(request, context);
    const { historyLength, returnImmediately } = request.configuration ?? {};
    const { feeds } = this.#context;
    const key = { scope: received.scope, id: received.taskId };
    // Another process may be writing to an existing task. A new task has no writer before its turn starts.
    let waiter = returnImmediately || received.task ? undefined : feeds.attach(new TurnWaiter(key));
    let isTakenIn = false;
    try {
      const submission = await this.#intake.submit(received);
      isTakenIn = submission.kind === 'turn';
      if (submission.kind === 'reply') return { message: submission.message };
      if (submission.kind === 'repeat') {
        const { scope, message } = received;
        const task = returnImmediately
          ? (await this.#stored(scope, submission.taskId)).task
          : await this.#streams.outcomeOf(scope, { ...submission, message });
        return { task: trimTask(task, { historyLength }) };
      }
      if (returnImmediately) {
        const stands = submission.claim ?? (await this.#stored(received.scope, received.taskId));
        return { task: trimTask(await this.#streams.begunTask(key, stands, submission), { historyLength }) };
      }
      if (waiter) waiter.setTurn(submission.turn);
      else waiter = feeds.attach(new TurnWaiter(key, submission.turn));
      submission.start?.();
      // Another process may run the task, or may have ended it already.
      if (!submission.claim && !submission.isNext) this.#context.node.look(key);
      const outcome = await waiter.outcome;
      if (!outcome.reached) throw new UnsupportedOperationError('the task ended before the message was processed');
      const task = outcome.task ?? (await this.#stored(received.scope, received.taskId)).task;
      return { task: trimTask(task, { historyLength }) };
    } catch (error) {
      throw isTakenIn ? unansweredError(error, { taskId: received.taskId, isRepeatable: !!received.key }) : error;
    } finally {
      if (waiter) feeds.detach(waiter);
    }
  }

  override sendStreamingMessage(request: SendMessageRequest, context: ServerCallContext): AsyncIterable<StreamItem> {
    return new DeferredStream(() => {
      const received = this.#intake.receive(request, context);
      const { historyLength } = request.configuration ?? {};
      return this.#streams.ofMessage(received, historyLength);
    });
  }

  async getTask(request: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    const { task } = await this.#stored(this.#scope(request.tenant, context), request.id);
    return trimTask(task, { historyLength: request.historyLength });
  }

  override async listTasks(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const { storage, limits } = this.#context;
    const scope = this.#scope(request.tenant, context);
    const { listTasks } = listing.loaded ?? (await listing.get());
    return listTasks(storage, { scope, request, defaultHistory: limits.listedHistory, maxBytes: limits.pageBytes });
  }

  async cancelTask(request: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    const scope = this.#scope(request.tenant, context);
    const task = await this.#cancellation.cancel(scope, request.id, request.metadata);
    if (task.status.state !== 'TASK_STATE_CANCELED') throw new TaskNotCancelableError(request.id);
    return task;
  }

  override subscribeToTask(request: SubscribeToTaskRequest, context: ServerCallContext): AsyncIterable<StreamItem> {
    const scope = this.#scope(request.tenant, context);
    return new DeferredStream(() => this.#streams.ofTask(scope, request.id, context.lastEventId));
  }

  override createTaskPushNotificationConfig(
    request: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const { version } = context;
    return this.#pushing().create({ scope: this.#scope(request.tenant, context), request, version });
  }

  override getTaskPushNotificationConfig(
    request: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#pushing().get({ scope: this.#scope(request.tenant, context), request });
  }

  override listTaskPushNotificationConfigs(
    request: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#pushing().list({ scope: this.#scope(request.tenant, context), request });
  }

  override deleteTaskPushNotificationConfig(
    request: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<undefined> {
    return this.#pushing().delete({ scope: this.#scope(request.tenant, context), request });
  }

  override async getExtendedAgentCard(
    _request: GetExtendedAgentCardRequest,
    context: ServerCallContext,
  ): Promise<AgentCard> {
    if (!this.#extendedAgentCard) throw new ExtendedAgentCardNotConfiguredError();
    if (context.user === undefined) throw new UnauthenticatedError(this.#challenges);
    const card = await this.#extendedAgentCard(context.user);
    if (card === undefined) throw new PermissionDeniedError('This user has no extended agent card');
    return card;
  }

  #pushing(): PushConfigurations {
    if (this.#push === undefined) throw new PushNotificationNotSupportedError();
    return this.#push;
  }

  /**
   * Delivers an authorization to the agent that asked for it. The state proves that the sender may do so.
   * Resolves to the id of the task; `undefined` if the state is unknown, expired or used.
   */
  async authorize(state: string, reply: AuthorizationReply): Promise<string | undefined> {
    const authorizations = await this.#context.authorizations.get();
    return authorizations.reply(state, reply);
  }

  #scope(tenant: string | undefined, context: ServerCallContext): Scope {
    return { agent: this.#context.agent, tenant: tenant ?? '', owner: context.user?.id ?? null };
  }

  async #stored(scope: Scope, taskId: string): Promise<StoredTask> {
    const stored = await this.#context.storage.task(scope, taskId);
    if (!stored) throw new TaskNotFoundError(taskId);
    return stored;
  }
}
