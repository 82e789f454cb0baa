import {
  type Acceptance,
  type AcceptOutcome,
  type Append,
  type AppendOutcome,
  type CancelOutcome,
  type CancelRequest,
  type ClaimRequest,
  type Claims,
  type Clock,
  type HeldTurn,
  type Holding,
  type IdempotencyKeys,
  type JsonValue,
  type Lease,
  LocalWakeups,
  type Logger,
  type NodeBeat,
  type OwnerStorage,
  type PushStorage,
  type RateCounters,
  type RecordPage,
  type ReleaseHow,
  type Renewal,
  type Retention,
  type Scope,
  SharedTasks,
  type StorageLoad,
  type StorageNode,
  type StoredTask,
  type Swept,
  type Task,
  type TaskKey,
  type TaskPage,
  type TaskProgress,
  type TaskQuery,
  type TaskStorage,
} from 'parley-a2a/storage-engine';
import { KeptKeys } from './kept-keys.js';
import { OpenCalls } from './open-calls.js';
import { ReadyWork } from './ready-work.js';
import { RedisCalls, type ScriptRunner } from './redis-calls.js';
import { RedisDeliveries } from './redis-deliveries.js';
import { type RedisOptions, redisSettings } from './redis-options.js';
import { RedisOwners } from './redis-owners.js';
import { RedisProcesses } from './redis-processes.js';
import { RedisPush } from './redis-push.js';
import { RedisRateCounters } from './redis-rate-counters.js';
import { RedisRetention } from './redis-retention.js';
import { openConnection } from './redis-schema.js';
import { RedisTables } from './redis-tables.js';
import { type PlacedWakeups, RedisWakeups } from './redis-wakeups.js';
import type { RunCommands } from './redis-walk.js';
import { ScriptPipeline } from './script-pipeline.js';
import { StoredTasks } from './stored-tasks.js';
import { RedisTaskLists } from './task-lists.js';
import type { RedisHead } from './task-texts.js';
import { TurnClaims } from './turn-claims.js';
import { UnreadableTasks } from './unreadable-tasks.js';

/** The parts of a storage. */
interface RedisStorageOptions {
  readonly runner: ScriptRunner;
  readonly run: RunCommands;
  readonly prefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly durability: 'power-loss' | 'process';
  /** One sentence for the operator for each guarantee that the servers cannot give. */
  readonly warnings?: readonly string[];
  readonly wakeups?: PlacedWakeups;
  readonly rateCounters?: RateCounters;
  /** Maximum bytes of the logs of finished tasks in one partition. */
  readonly eventLogBytes?: number;
  /** Lua for the storage's time. Tests replace it. */
  readonly time?: string;
  /** Maximum interval in ms between two scans of all partitions for work. */
  readonly scanMs?: number;
}

const EVENT_LOG_BYTES = 67_108_864;
const LOG_BYTES = 16_777_216;

/**
 * Stores everything in Redis or Valkey, for any number of processes. Each write is one script on one partition, see
 * `redis-keys.ts`. The engine decides about a task. The script writes the decision if the task is unchanged.
 */
export class RedisStorage implements TaskStorage {
  readonly shared = true;
  readonly durability: 'power-loss' | 'process';
  readonly watchCommits?: (watcher: (calls: number) => void) => () => void;
  readonly warnings: readonly string[];
  readonly wakeups: PlacedWakeups;
  readonly rateCounters?: RateCounters;
  readonly keys: IdempotencyKeys;
  readonly push: PushStorage;
  readonly owners: OwnerStorage;
  readonly #open = new OpenCalls();
  readonly #calls: RedisCalls;
  readonly #unreadable: UnreadableTasks;
  readonly #ready: ReadyWork;
  readonly #claims: TurnClaims;
  readonly #engine: SharedTasks<RedisHead>;
  readonly #tasks: StoredTasks;
  readonly #lists: RedisTaskLists;
  readonly #retention: RedisRetention;
  readonly #processes: RedisProcesses;
  readonly #clock: Clock;
  #closing: Promise<void> | undefined;

  constructor({ runner, prefix, time, eventLogBytes = EVENT_LOG_BYTES, scanMs, ...parts }: RedisStorageOptions) {
    this.durability = parts.durability;
    this.warnings = parts.warnings ?? [];
    this.wakeups = parts.wakeups ?? new LocalWakeups();
    if (parts.rateCounters !== undefined) this.rateCounters = parts.rateCounters;
    this.#calls = new RedisCalls(runner, { prefix, time });
    if (runner.watch !== undefined) this.watchCommits = (watcher) => runner.watch?.(watcher) ?? (() => {});
    this.#unreadable = new UnreadableTasks(this.#calls, parts.logger);
    const { clock } = parts;
    this.#clock = clock;
    const ready = new ReadyWork({ calls: this.#calls, wakeups: this.wakeups, clock, scanMs });
    this.#ready = ready;
    const open = this.#open;
    const deliveries = new RedisDeliveries(this.#calls, {
      work: ready.deliveries,
      unreadable: this.#unreadable,
      clock,
    });
    this.keys = new KeptKeys(this.#calls, open, clock);
    this.owners = new RedisOwners({ calls: this.#calls, open, wakeups: this.wakeups, prefix, run: parts.run });
    this.#lists = new RedisTaskLists(this.#calls, this.#unreadable);
    this.#retention = new RedisRetention(this.#calls);
    this.#processes = new RedisProcesses(this.#calls);
    const unreadable = this.#unreadable;
    this.#tasks = new StoredTasks(this.#calls, unreadable);
    const limits = { eventLogBytes, logBytes: Math.min(LOG_BYTES, eventLogBytes) };
    const engine = new SharedTasks(new RedisTables(this.#calls, { tasks: this.#tasks, unreadable, limits }), clock);
    this.#engine = engine;
    this.push = new RedisPush({ open, tasks: engine, deliveries, ready });
    const onClaim = (task: TaskKey, head: RedisHead) => engine.claimed(task, head);
    this.#claims = new TurnClaims({ calls: this.#calls, work: ready.turns, unreadable, onClaim });
  }

  /**
   * Connects to the servers.
   * @throws OptionsError, or StorageError if the servers cannot be used or a newer version wrote the storage.
   */
  static async open(options: RedisOptions): Promise<RedisStorage> {
    const settings = redisSettings(options);
    const connection = await openConnection(settings);
    const { prefix, clock, logger } = settings;
    return new RedisStorage({
      runner: new ScriptPipeline(connection, clock),
      run: (commands) => connection.call(commands),
      prefix,
      clock,
      logger,
      ...connection.guarantees,
      wakeups: new RedisWakeups(connection),
      rateCounters: new RedisRateCounters(connection),
    });
  }

  accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    return this.#open.run(async () => {
      const { scope } = acceptance;
      const { outcome, isDue, isReady } = await this.#engine.accept(acceptance);
      if (isDue) this.#ready.deliveryReady(scope);
      if (isReady) this.#ready.turnReady(scope);
      return outcome;
    });
  }

  append(append: Append): Promise<AppendOutcome> {
    return this.#open.run(async () => {
      const { outcome, isDue, isReady } = await this.#engine.append(append);
      if (outcome.kind !== 'appended') return outcome;
      this.wakeups.taskChanged(append.key);
      if (isReady) this.#ready.turnReady(append.key.scope);
      if (isDue) this.#ready.deliveryReady(append.key.scope);
      return outcome;
    });
  }

  claim(request: ClaimRequest): Promise<Claims> {
    return this.#open.run(() => this.#claims.claim(request));
  }

  begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    return this.#open.run(() => this.#engine.begin(turn, attempt));
  }

  /** One call for each turn, so that a failure of one does not affect others. */
  renew({ leaseMs, turns }: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    return this.#open.run(async () => {
      const answers = await Promise.allSettled(turns.map((turn) => this.#engine.renew(turn, leaseMs)));
      const [first] = answers;
      // If every call failed, the storage itself has failed.
      if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected')) throw first.reason;
      return answers.map((answer): Renewal => {
        if (answer.status === 'fulfilled') return answer.value;
        const { reason } = answer;
        return { held: 'unknown', error: reason instanceof Error ? reason.message : String(reason) };
      });
    });
  }

  release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    return this.#open.run(async () => {
      const { waiting, isReady } = await this.#engine.release(turn, how);
      if (isReady) this.#ready.turnReady(turn.key.scope);
      return { waiting };
    });
  }

  saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    return this.#open.run(() => this.#engine.saveCheckpoint(turn, checkpoint));
  }

  requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    return this.#open.run(async () => {
      const outcome = await this.#engine.requestCancel({ scope, id: taskId }, request);
      if (outcome.kind === 'requested') this.wakeups.cancelAsked({ scope, id: taskId });
      return outcome;
    });
  }

  task(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    return this.#open.run(() => this.#tasks.task({ scope, id: taskId }));
  }

  tasks(query: TaskQuery): Promise<TaskPage> {
    return this.#open.run(() => this.#lists.page(query));
  }

  records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    return this.#open.run(() => this.#tasks.records(key, after, maxBytes));
  }

  heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    return this.#open.run(() => this.#tasks.heads(keys));
  }

  abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    return this.#open.run(() => this.#lists.abandoned(agents, waitedMs, limit));
  }

  create(scope: Scope, task: Task): Promise<boolean> {
    return this.#open.run(() => this.#engine.create(scope, task));
  }

  delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    return this.#open.run(async () => {
      const outcome = await this.#engine.delete({ scope, id: taskId });
      if (outcome === 'deleted') this.wakeups.taskChanged({ scope, id: taskId });
      return outcome;
    });
  }

  now(): Promise<number> {
    return this.#open.run(() => this.#processes.now());
  }

  heartbeat(beat: NodeBeat): Promise<number> {
    return this.#open.run(() => this.#processes.heartbeat(beat));
  }

  nodes(): Promise<readonly StorageNode[]> {
    return this.#open.run(() => this.#processes.nodes());
  }

  check(): Promise<StorageLoad> {
    return this.#open.run(async () => {
      const load = await this.#processes.check();
      const unreadable = this.#unreadable.count;
      return { ...load, ...(unreadable > 0 && { unreadable }) };
    });
  }

  sweep(retention: Retention): Promise<Swept> {
    return this.#open.run(() => this.#retention.sweep(retention));
  }

  close(): Promise<void> {
    this.#closing ??= this.#clock.hold(this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#open.end();
    await this.wakeups.close?.();
    await this.#calls.runner.close();
  }
}
