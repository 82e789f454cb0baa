import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type {
  CancelRequest,
  ClaimRequest,
  Claims,
  HeldTurn,
  Holding,
  Lease,
  ReleaseHow,
  Renewal,
} from '../held-turn.js';
import type {
  ConfigChange,
  ConfigPut,
  DeliveryClaimRequest,
  DeliveryClaims,
  DeliveryKey,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  HeldDelivery,
  PlacedPushConfig,
} from '../push-deliveries.js';
import type { RateCounters } from '../rate-counters.js';
import { isReadyAfterAppend, isReadyAfterRelease } from '../rules/turn-lease.js';
import type { Scope, TaskKey } from '../task-key.js';
import type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  CancelOutcome,
  IdempotencyKey,
  NodeBeat,
  RecordPage,
  Remembered,
  Reservation,
  Retention,
  StorageLoad,
  StorageNode,
  StoredPushConfig,
  StoredTask,
  Swept,
  TaskPage,
  TaskProgress,
  TaskQuery,
  TaskStorage,
} from '../task-storage.js';
import { LocalWakeups } from '../wakeups.js';
import { acceptMessage } from './accept-messages.js';
import { appendRecords, type LogLimits } from './append-records.js';
import { HeldTurns } from './held-turns.js';
import { KeptKeys } from './kept-keys.js';
import { RedisCalls, type ScriptRunner } from './redis-calls.js';
import { RedisConnection } from './redis-connection.js';
import { type Changed, RedisDeliveries } from './redis-deliveries.js';
import { type RedisOptions, redisSettings } from './redis-options.js';
import { RedisProcesses } from './redis-processes.js';
import { RedisRateCounters } from './redis-rate-counters.js';
import { RedisRetention } from './redis-retention.js';
import { type PlacedWakeups, RedisWakeups } from './redis-wakeups.js';
import { ScriptPipeline } from './script-pipeline.js';
import { StoredTasks } from './stored-tasks.js';
import { RedisTaskLists } from './task-lists.js';
import { TurnClaims } from './turn-claims.js';
import { UnreadableTasks } from './unreadable-tasks.js';
import { WorkPlaces } from './work-places.js';

/** The parts of which a storage is made. */
export interface RedisStorageOptions {
  readonly runner: ScriptRunner;
  readonly prefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly durability: 'power-loss' | 'process';
  /** For the operator: the promises that the servers cannot keep. */
  readonly warnings?: readonly string[];
  readonly wakeups?: PlacedWakeups;
  readonly rateCounters?: RateCounters;
  /** Bytes that the logs of finished tasks may take in one partition. */
  readonly eventLogBytes?: number;
  /** Lua for the storage's time. Tests replace it. */
  readonly time?: string;
  /** Longest time between two looks at all partitions. */
  readonly scanMs?: number;
}

const EVENT_LOG_BYTES = 67_108_864;
const LOG_BYTES = 16_777_216;

/**
 * Keeps everything in Redis or Valkey, for any number of processes. Each write is one script on one partition, see
 * `redis-keys.ts`. A script writes only in the plain case. In any other case it answers the head of the task. Then a
 * rule of `rules/` decides, and the script applies the decision if the task has not changed since.
 */
export class RedisStorage implements TaskStorage {
  readonly shared = true;
  readonly durability: 'power-loss' | 'process';
  readonly watchCommits?: (watcher: (calls: number) => void) => () => void;
  readonly warnings: readonly string[];
  readonly wakeups: PlacedWakeups;
  readonly rateCounters?: RateCounters;
  readonly #calls: RedisCalls;
  readonly #limits: LogLimits;
  readonly #unreadable: UnreadableTasks;
  readonly #work: WorkPlaces;
  readonly #claims: TurnClaims;
  readonly #turns: HeldTurns;
  readonly #tasks: StoredTasks;
  readonly #keys: KeptKeys;
  readonly #due: WorkPlaces;
  readonly #deliveries: RedisDeliveries;
  readonly #lists: RedisTaskLists;
  readonly #retention: RedisRetention;
  readonly #processes: RedisProcesses;
  #running = 0;
  #closing: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  constructor({ runner, prefix, time, eventLogBytes = EVENT_LOG_BYTES, scanMs, ...parts }: RedisStorageOptions) {
    this.durability = parts.durability;
    this.warnings = parts.warnings ?? [];
    this.wakeups = parts.wakeups ?? new LocalWakeups();
    if (parts.rateCounters !== undefined) this.rateCounters = parts.rateCounters;
    this.#calls = new RedisCalls(runner, { prefix, time });
    if (runner.watch !== undefined) this.watchCommits = (watcher) => runner.watch?.(watcher) ?? (() => {});
    this.#limits = { eventLogBytes, logBytes: Math.min(LOG_BYTES, eventLogBytes) };
    this.#unreadable = new UnreadableTasks(this.#calls, parts.logger);
    this.#work = new WorkPlaces(this.#calls, { peek: 'peek', clock: parts.clock, scanMs });
    this.#due = new WorkPlaces(this.#calls, { peek: 'peekDeliveries', clock: parts.clock, scanMs });
    this.#deliveries = new RedisDeliveries(this.#calls, this.#due, this.#unreadable);
    this.#lists = new RedisTaskLists(this.#calls, this.#unreadable);
    this.#retention = new RedisRetention(this.#calls);
    this.#processes = new RedisProcesses(this.#calls);
    this.wakeups.watchPlaces?.((kind, agent, partition) =>
      (kind === 'workReady' ? this.#work : this.#due).ready(partition, agent),
    );
    this.#claims = new TurnClaims(this.#calls, this.#work, this.#unreadable);
    this.#turns = new HeldTurns(this.#calls);
    this.#tasks = new StoredTasks(this.#calls, this.#unreadable);
    this.#keys = new KeptKeys(this.#calls);
  }

  /**
   * Connects to the servers.
   * @throws OptionsError, or StorageError if the servers cannot be used.
   */
  static async open(options: RedisOptions): Promise<RedisStorage> {
    const settings = redisSettings(options);
    const connection = await RedisConnection.open(settings);
    const { prefix, clock, logger } = settings;
    return new RedisStorage({
      runner: new ScriptPipeline(connection, clock),
      prefix,
      clock,
      logger,
      ...connection.guarantees,
      wakeups: new RedisWakeups(connection),
      rateCounters: new RedisRateCounters(connection),
    });
  }

  accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    return this.#open(async () => {
      const { scope } = acceptance;
      const { outcome, isDue, isReady } = await acceptMessage(this.#calls, acceptance);
      if (isDue) this.#deliver(scope);
      if (isReady) this.#ready(scope);
      return outcome;
    });
  }

  append(append: Append): Promise<AppendOutcome> {
    return this.#open(async () => {
      const { outcome, isDue } = await appendRecords(this.#calls, append, this.#limits);
      if (outcome.kind !== 'appended') return outcome;
      this.wakeups.taskChanged(append.key);
      if (isReadyAfterAppend(append, outcome.waiting)) this.#ready(append.key.scope);
      if (isDue) this.#deliver(append.key.scope);
      return outcome;
    });
  }

  claim(request: ClaimRequest): Promise<Claims> {
    return this.#open(() => this.#claims.claim(request));
  }

  begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    return this.#open(() => this.#turns.begin(turn, attempt));
  }

  renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    return this.#open(() => this.#turns.renew(request));
  }

  release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    return this.#open(async () => {
      const waiting = await this.#turns.release(turn, how);
      if (isReadyAfterRelease(how, waiting)) this.#ready(turn.key.scope);
      return { waiting };
    });
  }

  saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    return this.#open(() => this.#turns.saveCheckpoint(turn, checkpoint));
  }

  requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    return this.#open(async () => {
      const outcome = await this.#turns.requestCancel({ scope, id: taskId }, request);
      if (outcome.kind === 'requested') this.wakeups.cancelAsked({ scope, id: taskId });
      return outcome;
    });
  }

  task(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    return this.#open(() => this.#tasks.task({ scope, id: taskId }));
  }

  tasks(query: TaskQuery): Promise<TaskPage> {
    return this.#open(() => this.#lists.page(query));
  }

  records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    return this.#open(() => this.#tasks.records(key, after, maxBytes));
  }

  heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    return this.#open(() => this.#tasks.heads(keys));
  }

  abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    return this.#open(() => this.#lists.abandoned(agents, waitedMs, limit));
  }

  create(scope: Scope, task: Task): Promise<boolean> {
    return this.#open(() => this.#tasks.create(scope, task));
  }

  delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    return this.#open(async () => {
      const outcome = await this.#tasks.delete({ scope, id: taskId });
      if (outcome === 'deleted') this.wakeups.taskChanged({ scope, id: taskId });
      return outcome;
    });
  }

  reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation> {
    return this.#open(() => this.#keys.reserve(scope, key, lease));
  }

  unreserve(scope: Scope, key: string, node: string): Promise<void> {
    return this.#open(() => this.#keys.unreserve(scope, key, node));
  }

  remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    return this.#open(() => this.#keys.remember(scope, key, reply));
  }

  recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    return this.#open(() => this.#keys.recall(scope, key));
  }

  putPushConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    return this.#open(async () => {
      const { result, isDue } = await this.#deliveries.put({ scope, id: config.taskId }, config, limit);
      if (isDue) this.#deliver(scope);
      return result;
    });
  }

  pushConfig(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    return this.#open(() => this.#deliveries.config({ scope, id: taskId }, id));
  }

  pushConfigs(
    scope: Scope,
    taskId: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<readonly StoredPushConfig[] | undefined> {
    return this.#open(() => this.#deliveries.configs({ scope, id: taskId }, page));
  }

  deletePushConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    return this.#open(() => this.#deliveries.remove({ scope, id: taskId }, id));
  }

  claimDeliveries(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    return this.#open(() => this.#deliveries.claim(request));
  }

  settleDelivery(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    return this.#open(() => this.#changed(held, this.#deliveries.settle(held, outcome)));
  }

  deliveries(query: DeliveryQuery): Promise<DeliveryPage> {
    return this.#open(() => this.#deliveries.page(query));
  }

  replayDelivery(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    return this.#open(() => this.#changed(queue, this.#deliveries.replay(queue, from)));
  }

  rewriteConfig({ key }: DeliveryKey, change: ConfigChange): Promise<boolean> {
    return this.#open(() => this.#deliveries.rewrite(key, change));
  }

  purgeDelivery(queue: DeliveryKey): Promise<boolean> {
    return this.#open(() => this.#changed(queue, this.#deliveries.purge(queue)));
  }

  now(): Promise<number> {
    return this.#open(() => this.#processes.now());
  }

  heartbeat(beat: NodeBeat): Promise<number> {
    return this.#open(() => this.#processes.heartbeat(beat));
  }

  nodes(): Promise<readonly StorageNode[]> {
    return this.#open(() => this.#processes.nodes());
  }

  check(): Promise<StorageLoad> {
    return this.#open(async () => {
      const load = await this.#processes.check();
      const unreadable = this.#unreadable.count;
      return { ...load, ...(unreadable > 0 && { unreadable }) };
    });
  }

  sweep(retention: Retention): Promise<Swept> {
    return this.#open(() => this.#retention.sweep(retention));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#running > 0) {
      const idle = Promise.withResolvers<void>();
      this.#whenIdle = () => idle.resolve();
      await idle.promise;
    }
    await this.wakeups.close?.();
    await this.#calls.runner.close();
  }

  /** Runs a call while the storage is open; `close` waits for it. */
  async #open<R>(call: () => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) throw new StorageError('The storage is closed');
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#whenIdle?.();
    }
  }

  /** A delivery of this scope can be claimed. */
  #deliver(scope: Scope): void {
    const { partition } = this.#calls.keys.ofScope(scope);
    this.#due.ready(partition, scope.agent);
    this.wakeups.deliveryReady(scope.agent, partition);
  }

  async #changed<R>({ key }: DeliveryKey, changed: Promise<Changed<R>>): Promise<R> {
    const { outcome, isDue } = await changed;
    if (isDue) this.#deliver(key.scope);
    return outcome;
  }

  /** A turn of this scope can be claimed. */
  #ready(scope: Scope): void {
    const { partition } = this.#calls.keys.ofScope(scope);
    this.#work.ready(partition, scope.agent);
    this.wakeups.workReady(scope.agent, partition);
  }
}
