import {
  type Acceptance,
  type AcceptOutcome,
  type Append,
  type AppendOutcome,
  type CancelOutcome,
  type CancelRequest,
  type Claim,
  type ClaimRequest,
  type Claims,
  type Clock,
  claimOf,
  type HeldTurn,
  type Holding,
  type IdempotencyKeys,
  type JsonValue,
  type Lease,
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
  StorageLifetime,
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
  type Wakeups,
} from 'parley-a2a/storage-engine';
import { abandonedTasks } from './abandoned-tasks.js';
import { checkServer } from './check-server.js';
import { type ClaimedTurns, claimTurns, readClaimedTurn } from './claim-turns.js';
import { PostgresConnections } from './connections.js';
import { pageOfTasks } from './list-tasks.js';
import type { PostgresHead } from './load-rows.js';
import { migrate } from './migrate.js';
import { noteBeat, readNodes } from './nodes.js';
import { PostgresError } from './postgres-error.js';
import { PostgresKeys } from './postgres-keys.js';
import { type PostgresStorageOptions, postgresPlan } from './postgres-options.js';
import { PostgresOwners } from './postgres-owners.js';
import { PostgresPush } from './postgres-push.js';
import { PostgresRateCounters } from './postgres-rate-counters.js';
import { PostgresTasks } from './postgres-tasks.js';
import { PostgresWakeups } from './postgres-wakeups.js';
import { readLoad } from './read-load.js';
import { type ReadSources, readHeads, readRecords, readTask, readTasksApart } from './read-tasks.js';
import { StoredScopes } from './stored-names.js';
import { foldCounts, sweepOnce } from './sweep.js';
import { PostgresTables, type Sql } from './tables.js';
import { UnreadableTurns } from './unreadable-turns.js';

const NOW: Sql = { name: 'now', text: 'SELECT parley.now_ms() AS now', repeatable: true };

/**
 * Stores everything in a PostgreSQL database, for any number of processes. The engine makes the decisions, and the
 * database commits them if the rows are unchanged. Waiting changes of tasks share a statement.
 */
export class PostgresStorage implements TaskStorage {
  readonly shared = true;
  readonly durability: 'power-loss' | 'process';
  readonly wakeups: Wakeups;
  readonly rateCounters: RateCounters;
  readonly keys: IdempotencyKeys;
  readonly push: PushStorage;
  readonly owners: OwnerStorage;
  readonly #lifetime = new StorageLifetime();
  readonly #connections: PostgresConnections;
  readonly #tables: PostgresTables;
  readonly #scopes = new StoredScopes();
  readonly #engine: SharedTasks<PostgresHead>;
  readonly #watchers = new Set<(calls: number) => void>();
  readonly #unreadable: UnreadableTurns;
  readonly #sources: ReadSources;
  readonly #closeWakeups: () => Promise<void>;
  readonly #clock: Clock;

  private constructor(options: PostgresStorageOptions, connections: PostgresConnections, wakeups: PostgresWakeups) {
    const { clock, logger } = options;
    this.#clock = clock;
    this.#unreadable = new UnreadableTurns(logger);
    this.#connections = connections;
    this.wakeups = wakeups;
    this.rateCounters = new PostgresRateCounters(connections, connections.schema);
    this.#closeWakeups = () => wakeups.close();
    this.durability = connections.plan.durability;
    const tables = new PostgresTables(connections);
    this.#tables = tables;
    const scopes = this.#scopes;
    const sources = { tables, scopes, unreadable: this.#unreadable };
    this.#sources = sources;
    const lifetime = this.#lifetime;
    this.keys = new PostgresKeys({ lifetime, tables, scopes, clock });
    this.push = new PostgresPush({ lifetime, tables, sources, wakeups });
    this.owners = new PostgresOwners({ lifetime, tables, scopes, wakeups });
    const onCommit = (calls: number) => {
      for (const watcher of this.#watchers) watcher(calls);
    };
    this.#engine = new SharedTasks(new PostgresTasks({ clock, tables, sources, onCommit }), clock);
  }

  /**
   * Connects, and creates or migrates the tables.
   * @throws OptionsError for invalid options. StorageError if the server cannot be used.
   */
  static async open(options: PostgresStorageOptions): Promise<PostgresStorage> {
    const { clock, logger } = options;
    const connections = new PostgresConnections({ plan: postgresPlan(options), clock, logger });
    const wakeups = new PostgresWakeups({ connections, clock, logger });
    try {
      await checkServer(connections, logger);
      await migrate(connections);
      await wakeups.start();
    } catch (error) {
      await connections.close();
      throw error;
    }
    return new PostgresStorage(options, connections, wakeups);
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    this.#lifetime.check();
    const { scope, pushConfig } = acceptance;
    const { outcome, isDue, isReady } = await this.#engine.accept(acceptance);
    if (isDue && pushConfig !== undefined) this.wakeups.deliveryReady(scope.agent);
    if (isReady) this.wakeups.workReady(scope.agent);
    return outcome;
  }

  async append(append: Append): Promise<AppendOutcome> {
    this.#lifetime.check();
    const { key } = append;
    const { outcome, isDue, isReady } = await this.#engine.append(append);
    if (outcome.kind === 'appended') this.wakeups.taskChanged(key);
    if (isReady) this.wakeups.workReady(key.scope.agent);
    if (isDue) this.wakeups.deliveryReady(key.scope.agent);
    return outcome;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    this.#lifetime.check();
    const { turns, unreadable, heads, more } = await this.#claimed(request);
    for (const { key, head } of heads) this.#engine.claimed(key, head);
    const lost = [...unreadable];
    const stored = await readTasksApart(
      this.#tables,
      this.#scopes,
      turns.map(({ key }) => key),
    );
    const claims = turns.flatMap((turn, at): Claim[] => {
      const found = stored[at];
      if (found instanceof Error) lost.push({ key: turn.key, turn: turn.turn, epoch: turn.epoch, error: found });
      return found === undefined || found instanceof Error ? [] : [claimOf(found, turn, turn)];
    });
    await this.#unreadable.setAside(this.#tables, this.#scopes, lost);
    return { claims, more };
  }

  async #claimed(request: ClaimRequest): Promise<ClaimedTurns> {
    const { task: key, agents } = request;
    if (key === undefined) return claimTurns(this.#tables, this.#scopes, request);
    const none = { turns: [], unreadable: [], heads: [] };
    if (!agents.includes(key.scope.agent)) return { ...none, more: false };
    const { head, more } = await this.#engine.claim(key, request);
    if (head === undefined) return { ...none, more };
    const turn = await readClaimedTurn(this.#tables, { part: this.#scopes.of(key.scope).part, key }, head);
    return { ...none, turns: turn === undefined ? [] : [turn], more };
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    this.#lifetime.check();
    return this.#engine.begin(turn, attempt);
  }

  async renew({ turns, leaseMs }: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    this.#lifetime.check();
    return Promise.all(
      turns.map(async (turn): Promise<Renewal> => {
        try {
          return await this.#engine.renew(turn, leaseMs);
        } catch (error) {
          if (!(error instanceof PostgresError) || error.isOutage || turns.length < 2) throw error;
          return { held: 'unknown', error: error.message };
        }
      }),
    );
  }

  async release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#lifetime.check();
    const { waiting, isReady } = await this.#engine.release(turn, how);
    if (isReady) this.wakeups.workReady(turn.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#lifetime.check();
    return this.#engine.saveCheckpoint(turn, checkpoint);
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    this.#lifetime.check();
    const key = { scope, id: taskId };
    const outcome = await this.#engine.requestCancel(key, request);
    if (outcome.kind === 'requested') this.wakeups.cancelAsked(key);
    return outcome;
  }

  async task(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    this.#lifetime.check();
    return readTask(this.#sources, { scope, id: taskId });
  }

  async tasks(query: TaskQuery): Promise<TaskPage> {
    this.#lifetime.check();
    return pageOfTasks(this.#sources, query);
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#lifetime.check();
    return readRecords(this.#sources, { key, after, maxBytes });
  }

  async heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    this.#lifetime.check();
    return readHeads(this.#tables, this.#scopes, keys);
  }

  async abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    this.#lifetime.check();
    return abandonedTasks(this.#sources, { agents, waitedMs, limit });
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    this.#lifetime.check();
    return this.#engine.create(scope, task);
  }

  async delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    this.#lifetime.check();
    const key = { scope, id: taskId };
    const outcome = await this.#engine.delete(key);
    if (outcome === 'deleted') this.wakeups.taskChanged(key);
    return outcome;
  }

  async now(): Promise<number> {
    this.#lifetime.check();
    const [row] = await this.#tables.query<{ readonly now: number }>(NOW);
    return row?.now ?? 0;
  }

  async heartbeat(beat: NodeBeat): Promise<number> {
    this.#lifetime.check();
    return noteBeat(this.#tables.urgent, beat);
  }

  async nodes(): Promise<readonly StorageNode[]> {
    this.#lifetime.check();
    return readNodes(this.#tables);
  }

  async check(): Promise<StorageLoad> {
    this.#lifetime.check();
    const load = await readLoad(this.#tables);
    const unreadable = this.#unreadable.count;
    return { ...load, ...(unreadable > 0 && { unreadable }) };
  }

  watchCommits(watcher: (calls: number) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  async sweep(retention: Retention): Promise<Swept> {
    this.#lifetime.check();
    const { eventLogBytes } = this.#connections.plan;
    for (let isMore = true; isMore; ) isMore = await this.#tables.transaction(foldCounts);
    return this.#tables.transaction((tables) => sweepOnce(tables, retention, eventLogBytes));
  }

  close(): Promise<void> {
    return this.#clock.hold(this.#close());
  }

  async #close(): Promise<void> {
    this.#lifetime.end();
    await this.#engine.idle();
    await this.#closeWakeups();
    await this.#connections.close();
  }
}
