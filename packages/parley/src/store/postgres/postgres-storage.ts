import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import { TaskLanes } from '../engine/task-lanes.js';
import type {
  CancelRequest,
  Claim,
  ClaimRequest,
  Claims,
  HeldTurn,
  Holding,
  Lease,
  ReleaseHow,
  Renewal,
} from '../held-turn.js';
import type { IdempotencyKeys } from '../idempotency-keys.js';
import type { OwnerStorage } from '../owner-storage.js';
import type { PushStorage } from '../push-storage.js';
import type { RateCounters } from '../rate-counters.js';
import { isReadyAfterAppend, isReadyAfterRelease } from '../rules/decide-lease.js';
import { stateOfNumber } from '../state-numbers.js';
import { StorageLifetime } from '../storage-lifetime.js';
import type { Scope, TaskKey } from '../task-key.js';
import type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  CancelOutcome,
  NodeBeat,
  RecordPage,
  Retention,
  StorageLoad,
  StorageNode,
  StoredTask,
  Swept,
  TaskPage,
  TaskProgress,
  TaskQuery,
  TaskStorage,
} from '../task-storage.js';
import type { Wakeups } from '../wakeups.js';
import { abandonedTasks } from './abandoned-tasks.js';
import { type AcceptResult, acceptIdle, acceptLocked, createdResult } from './accept-messages.js';
import { type Appended, appendLocked, appendPlain, type PreparedAppend, preparedAppend } from './append-records.js';
import { checkServer } from './check-server.js';
import { claimOfTask, claimTurns } from './claim-turns.js';
import { loadPg, PostgresConnections } from './connections.js';
import { createTasks, type NewTask, newTask, newTaskOf } from './create-tasks.js';
import { GroupCommit } from './group-commit.js';
import {
  beginAttempt,
  byKey,
  cancelPlain,
  deleteTask,
  keepCancel,
  keepCheckpoint,
  releaseDone,
  releaseLast,
  releaseUnfinished,
  renewLeases,
} from './held-turns.js';
import { pageOfTasks } from './list-tasks.js';
import { migrate } from './migrate.js';
import { noteBeat, readNodes } from './nodes.js';
import { PostgresError } from './postgres-error.js';
import { PostgresKeys } from './postgres-keys.js';
import { type PostgresStorageOptions, postgresPlan } from './postgres-options.js';
import { isOwnerBlocked, PostgresOwners } from './postgres-owners.js';
import { PostgresPush } from './postgres-push.js';
import { PostgresRateCounters } from './postgres-rate-counters.js';
import { PostgresWakeups } from './postgres-wakeups.js';
import { readLoad } from './read-load.js';
import { type ReadSources, readHeads, readRecords, readTask, readTasksApart } from './read-tasks.js';
import { StoredScopes } from './stored-names.js';
import { foldCounts, sweepOnce } from './sweep.js';
import { PostgresTables, type Sql } from './tables.js';
import { UnreadableTurns } from './unreadable-turns.js';

const UNIQUE_VIOLATION = '23505';
const NOW: Sql = { name: 'now', text: 'SELECT parley.now_ms() AS now', repeatable: true };

/**
 * Keeps everything in a PostgreSQL database, for any number of processes. Plain accepts and appends that wait share a
 * statement. A call that is not plain runs in a transaction of its own, under a lock on its task.
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
  readonly #creates: GroupCommit<NewTask, true>;
  readonly #appends: GroupCommit<PreparedAppend, Appended>;
  readonly #lanes = new TaskLanes();
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
    this.keys = new PostgresKeys({ lifetime, tables, scopes });
    this.push = new PostgresPush({ lifetime, tables, sources, wakeups });
    this.owners = new PostgresOwners({ lifetime, tables, scopes, wakeups });
    const onCommit = (calls: number) => {
      for (const watcher of this.#watchers) watcher(calls);
    };
    this.#creates = new GroupCommit<NewTask, true>({
      clock,
      run: (tasks) => createTasks(tables, tasks),
      order: byKey,
      bytesOf: ({ event, message }) => event.length + (message?.length ?? 0),
      onCommit,
    });
    this.#appends = new GroupCommit<PreparedAppend, Appended>({
      clock,
      run: (appends) => appendPlain(tables, appends),
      order: byKey,
      bytesOf: ({ bytes, history, artifacts }) => bytes + (history?.length ?? 0) + (artifacts?.length ?? 0),
      onCommit,
    });
  }

  /**
   * Connects, and makes or migrates the tables.
   * @throws OptionsError for wrong options. StorageError if the server cannot be used.
   */
  static async open(options: PostgresStorageOptions): Promise<PostgresStorage> {
    const { clock, logger } = options;
    const library = await loadPg();
    const connections = new PostgresConnections({ plan: postgresPlan(options), clock, logger }, library);
    const wakeups = new PostgresWakeups({ connections, library, clock, logger });
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
    const { scope, task, claim, pushConfig } = acceptance;
    const id = 'create' in task ? task.create.id : task.id;
    const result = await this.#lanes.do({ scope, id }, () => this.#accepted(acceptance));
    switch (result.kind) {
      case 'accepted': {
        const { turn, seq, epoch, isReady } = result;
        const taskId = id;
        if (pushConfig !== undefined) this.wakeups.deliveryReady(scope.agent);
        if (isReady) this.wakeups.workReady(scope.agent);
        if (epoch === undefined || claim === undefined) return { kind: 'accepted', taskId, turn, seq };
        const { message, caller } = acceptance;
        const known = { scope, epoch, turn, attempt: 1, handOvers: 0, message, caller, began: false };
        if ('create' in task && seq === 1) {
          return { kind: 'accepted', taskId, turn, seq, claim: { ...known, task: task.create, seq } };
        }
        const stored = await this.task(scope, taskId);
        if (stored === undefined) return { kind: 'not-found' };
        return { kind: 'accepted', taskId, turn, seq, claim: { ...known, task: stored.task, seq: stored.seq } };
      }
      case 'terminal':
        return { kind: 'terminal', state: stateOfNumber(result.state) };
      case 'repeated':
      case 'not-found':
      case 'other-context':
      case 'full':
      case 'configs-full':
      case 'reserved':
        return result;
    }
  }

  async #accepted(acceptance: Acceptance): Promise<AcceptResult> {
    const { task } = acceptance;
    if ('create' in task && acceptance.again !== true) {
      const created = await this.#created(newTaskOf(this.#scopes, acceptance, task.create));
      if (created) return createdResult(acceptance.claim);
    }
    const idle = await acceptIdle(this.#tables, this.#scopes, acceptance);
    return idle ?? this.#tables.transaction((tables) => acceptLocked(tables, this.#scopes, acceptance));
  }

  /** Creates a task; false if its key is known or its id is taken. */
  async #created(task: NewTask): Promise<boolean> {
    try {
      return (await this.#creates.do(task)) === true;
    } catch (error) {
      if (error instanceof PostgresError && error.sqlState === UNIQUE_VIOLATION) return false;
      throw error;
    }
  }

  async append(append: Append): Promise<AppendOutcome> {
    this.#lifetime.check();
    const { key } = append;
    const { outcome, isDue } = await this.#lanes.do(key, () => this.#appended(append));
    if (outcome.kind === 'appended') {
      this.wakeups.taskChanged(key);
      if (isReadyAfterAppend(append, outcome.waiting)) this.wakeups.workReady(key.scope.agent);
      if (isDue) this.wakeups.deliveryReady(key.scope.agent);
    }
    return outcome;
  }

  async #appended(append: Append): Promise<Appended> {
    const scope = this.#scopes.of(append.key.scope);
    const prepared = preparedAppend(scope, append);
    const plain = typeof append.authority === 'number' ? await this.#appends.do(prepared) : undefined;
    return plain ?? this.#tables.transaction((tables) => appendLocked(tables, scope, { append, prepared }));
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    this.#lifetime.check();
    const { task } = request;
    const { turns, unreadable, more } =
      task === undefined
        ? await claimTurns(this.#tables, this.#scopes, request)
        : await this.#tables.transaction((tables) =>
            claimOfTask(tables, this.#scopes.of(task.scope), { ...request, task }),
          );
    const lost = [...unreadable];
    const stored = await readTasksApart(
      this.#tables,
      this.#scopes,
      turns.map(({ key }) => key),
    );
    const claims = turns.flatMap(({ key, ...turn }, at): Claim[] => {
      const found = stored[at];
      if (found instanceof Error) lost.push({ key, turn: turn.turn, epoch: turn.epoch, error: found });
      if (found === undefined || found instanceof Error) return [];
      return [{ ...turn, scope: key.scope, task: found.task, seq: found.seq }];
    });
    await this.#unreadable.setAside(this.#tables, this.#scopes, lost);
    return { claims, more };
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    this.#lifetime.check();
    return beginAttempt(this.#tables, this.#scopes, { turn, attempt });
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    this.#lifetime.check();
    const { urgent } = this.#tables;
    try {
      return await renewLeases(urgent, this.#scopes, request);
    } catch (error) {
      if (!(error instanceof PostgresError) || error.isOutage || request.turns.length < 2) throw error;
      return Promise.all(
        request.turns.map(async (turn): Promise<Renewal> => {
          try {
            const [renewal] = await renewLeases(urgent, this.#scopes, { ...request, turns: [turn] });
            return renewal ?? { held: false };
          } catch (failure) {
            return { held: 'unknown', error: failure instanceof Error ? failure.message : String(failure) };
          }
        }),
      );
    }
  }

  async release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#lifetime.check();
    const scope = this.#scopes.of(turn.key.scope);
    const waiting = await this.#lanes.do(turn.key, async () => {
      const plain = await releaseUnfinished(this.#tables, scope, { turn, how });
      if (plain !== undefined) return plain;
      if (how === 'done' && (await releaseLast(this.#tables, scope, turn))) return 0;
      return this.#tables.transaction((tables) => releaseDone(tables, scope, turn));
    });
    if (isReadyAfterRelease(how, waiting)) this.wakeups.workReady(turn.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#lifetime.check();
    return keepCheckpoint(this.#tables, this.#scopes, { turn, checkpoint: JSON.stringify(checkpoint) });
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    this.#lifetime.check();
    const stored = this.#scopes.of(scope);
    const key = { scope, id: taskId };
    const cancel = { taskId, request };
    const result = await this.#lanes.do(
      key,
      async () =>
        (await cancelPlain(this.#tables, stored, cancel)) ??
        this.#tables.transaction((tables) => keepCancel(tables, stored, cancel)),
    );
    if (result.kind === 'not-found') return result;
    if (result.kind === 'terminal') return { kind: 'terminal', state: stateOfNumber(result.state) };
    this.wakeups.cancelAsked(key);
    const { seq, turn, running } = result;
    const requested = { kind: 'requested', seq, ...(turn !== undefined && { turn }) } as const;
    if (running) return requested;
    const task = await this.task(scope, taskId);
    return task === undefined ? { kind: 'not-found' } : { ...requested, stored: task };
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
    const key = { scope, id: task.id };
    const isCreated = await this.#lanes.do(key, () => this.#created(newTask(this.#scopes, scope, task)));
    if (!isCreated && (await isOwnerBlocked(this.#tables, scope))) throw new OwnerBlockedError();
    return isCreated;
  }

  async delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    this.#lifetime.check();
    const stored = this.#scopes.of(scope);
    const key = { scope, id: taskId };
    const outcome = await this.#lanes.do(key, () =>
      this.#tables.transaction((tables) => deleteTask(tables, stored, taskId)),
    );
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
    await this.#lanes.idle();
    await this.#closeWakeups();
    await this.#connections.close();
  }
}
