import { StorageError } from '../../errors/storage-error.js';
import { UnreadableTaskError, unreadableReason } from '../../errors/unreadable-task-error.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import { LogRecord } from '../../task/log-record.js';
import type { CallerContext } from '../caller-context.js';
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
import { NodeList } from '../node-list.js';
import type { ConfigPut, PlacedPushConfig, PushDeliveries } from '../push-deliveries.js';
import { readableDeliveries } from '../readable-deliveries.js';
import { parsedCancel } from '../rules/decide-cancel.js';
import { isReadyAfterAppend, isReadyAfterRelease } from '../rules/turn-lease.js';
import { stateOfNumber } from '../state-numbers.js';
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
import { fileFault, isDamage } from './file-fault.js';
import { GroupCommit } from './group-commit.js';
import { readPushConfig, readPushConfigs, readRemembered, rememberedOf } from './read-keys-and-configs.js';
import { readProgress, readRecords, readTask } from './read-task.js';
import { SqliteFile, type SqliteFileOptions } from './sqlite-file.js';
import { storedOf, TextPage, taskOf } from './task-texts.js';
import { acceptWrite, appendWrite, heldFields, newTaskFields, queueFields, scopeFields } from './to-write-requests.js';
import type { ReadRequest, ReadResults } from './worker-messages.js';
import type { ClaimedTurn, HeldResult, RecordFields } from './write-requests.js';

/** So much of a log is read on the main thread; more than that is left to a thread of its own. */
const SMALL_READ = 1_048_576;

/**
 * Keeps everything in one file, for one server process at a time. One thread writes, with one transaction for all calls
 * that wait. The main thread reads single tasks. A third thread reads lists and long logs; it starts when it is needed.
 */
export class SqliteStorage implements TaskStorage {
  readonly shared = false;
  readonly durability: 'power-loss' | 'process';
  readonly wakeups = new LocalWakeups();
  readonly #clock: Clock;
  readonly #file: SqliteFile;
  readonly #commits: GroupCommit;
  readonly #nodes = new NodeList();
  /** The turns that were claimed at the same time as the last one. */
  readonly #claimed = { at: 0, turns: new Set<string>() };
  #closing: Promise<void> | undefined;

  private constructor({ clock }: SqliteFileOptions, file: SqliteFile) {
    this.#clock = clock;
    this.#file = file;
    this.durability = file.durability;
    this.#commits = new GroupCommit(file.writer, clock);
  }

  /**
   * Opens the file. All leases in it are void: turns that ran when the last process ended can be claimed at once.
   * @throws StorageError with the path, if the file cannot be used. Another server has it, it is damaged, or another
   * program or a newer version wrote it. Nothing in it is changed then.
   */
  static async open(options: SqliteFileOptions): Promise<SqliteStorage> {
    const file = await SqliteFile.open(options);
    if (file.durability === 'process') {
      options.logger.warn('tasks survive the end of the process, but not the loss of power', { path: file.path });
    }
    return new SqliteStorage(options, file);
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const now = this.#open();
    const { scope, task, message, caller } = acceptance;
    const result = await this.#commits.do(acceptWrite(acceptance, now));
    if (result.length === 1) return { kind: result[0] };
    switch (result[0]) {
      case 'accepted': {
        const [, turn, seq, epoch, isReady] = result;
        if (acceptance.pushConfig !== undefined) this.wakeups.deliveryReady(scope.agent);
        const taskId = 'create' in task ? task.create.id : task.id;
        if (epoch === null) {
          if (isReady) this.wakeups.workReady(scope.agent);
          return { kind: 'accepted', taskId, turn, seq };
        }
        const known = { scope, epoch, turn, attempt: 1, handOvers: 0, message, caller, began: false };
        if ('create' in task && seq === 1) {
          return { kind: 'accepted', taskId, turn, seq, claim: { ...known, task: task.create, seq } };
        }
        // A message to a task that cannot be read is as if it had not come.
        const stored = await this.#readHeld({ key: { scope, id: taskId }, turn, epoch });
        if (stored === undefined) return { kind: 'not-found' };
        return { kind: 'accepted', taskId, turn, seq, claim: { ...known, task: stored.task, seq: stored.seq } };
      }
      case 'repeated': {
        const [, digest, taskId, turn, reply] = result;
        return { kind: 'repeated', first: rememberedOf({ digest, task: taskId, turn, reply }) };
      }
      case 'terminal':
        return { kind: 'terminal', state: stateOfNumber(result[1]) };
    }
  }

  async append(append: Append): Promise<AppendOutcome> {
    const now = this.#open();
    const result = await this.#commits.do(appendWrite(append, now));
    if (result[0] !== 'appended') return { kind: result[0] };
    const [, waiting, isDue] = result;
    if (typeof append.authority !== 'number') this.wakeups.taskChanged(append.key);
    if (isReadyAfterAppend(append, waiting)) this.wakeups.workReady(append.key.scope.agent);
    if (isDue === true) this.wakeups.deliveryReady(append.key.scope.agent);
    return { kind: 'appended', waiting };
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    const now = this.#open();
    const { node, leaseMs, agents, limit, maxBytes = Number.POSITIVE_INFINITY, task, holds } = request;
    const key = task === undefined ? null : ([scopeFields(task.scope), task.id] as const);
    const claims: Claim[] = [];
    for (;;) {
      const wanted = limit - claims.length;
      const write = { now, node, leaseMs, agents, limit: wanted, maxBytes, task: key, holds };
      const { turns, more } = await this.#commits.do(['claim', write]);
      const found = turns.filter((turn) => this.#isNew(turn, now));
      const before = claims.length;
      for (const turn of found) {
        const claim = await this.#claimOf(turn);
        if (claim !== undefined) claims.push(claim);
      }
      // Turns that cannot be read were set aside; others take their places.
      const isWhole = claims.length - before === turns.length;
      if (isWhole || turns.length === 0) return { claims, more };
    }
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const now = this.#open();
    const renewals = await this.#commits.do([
      'renew',
      { now, leaseMs: request.leaseMs, turns: request.turns.map(heldFields) },
    ]);
    return renewals.map((result) =>
      result === undefined ? { held: 'unknown', error: 'The row of the task cannot be read' } : holdingOf(result),
    );
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    this.#open();
    return holdingOf(await this.#commits.do(['begin', { turn: heldFields(turn), attempt }]));
  }

  async release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#open();
    const waiting = await this.#commits.do(['release', { turn: heldFields(turn), attempt: turn.attempt, how }]);
    if (isReadyAfterRelease(how, waiting)) this.wakeups.workReady(turn.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#open();
    return this.#commits.do(['checkpoint', { turn: heldFields(turn), checkpoint: JSON.stringify(checkpoint) }]);
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    const now = this.#open();
    const cancel = { scope: scopeFields(scope), now, taskId, request: JSON.stringify(request) };
    const result = await this.#commits.do(['cancel', cancel]);
    if (result.kind === 'not-found') return result;
    if (result.kind === 'terminal') return { kind: 'terminal', state: stateOfNumber(result.state) };
    this.wakeups.cancelAsked({ scope, id: taskId });
    const { seq, turn, running } = result;
    const requested = { kind: 'requested', seq, ...(turn !== undefined && { turn }) } as const;
    if (running) return requested;
    const stored = this.#stored(scope, taskId);
    return stored === undefined ? { kind: 'not-found' } : { ...requested, stored };
  }

  async task(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    this.#open();
    return this.#stored(scope, taskId);
  }

  async tasks(query: TaskQuery): Promise<TaskPage> {
    const now = this.#open();
    return new TextPage(await this.#ask('page', { read: 'page', query }), { scope: query.scope, now });
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#open();
    if (maxBytes <= SMALL_READ) {
      return this.#required(key.id, () => readRecords(this.#file.tables, { key, after, maxBytes }));
    }
    const page = await this.#ask('records', { read: 'records', key, after, maxBytes });
    return { ...page, records: page.records.map(recordOf) };
  }

  async heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    this.#open();
    return this.#read(() => readProgress(this.#file.tables, keys));
  }

  async abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    const now = this.#open();
    const found = await this.#ask('abandoned', { read: 'abandoned', agents, before: now - waitedMs, limit });
    return found.map(([[agent, tenant, owner], row]) =>
      storedOf(row, taskOf(row), { scope: { agent, tenant, owner }, now }),
    );
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    const now = this.#open();
    return this.#commits.do(['create', { scope: scopeFields(scope), now, taskId: task.id, task: newTaskFields(task) }]);
  }

  async delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    const now = this.#open();
    const outcome = await this.#commits.do(['delete', { scope: scopeFields(scope), now, taskId }]);
    if (outcome === 'deleted') this.wakeups.taskChanged({ scope, id: taskId });
    return outcome;
  }

  async reserve(scope: Scope, { key, ttlMs, digest }: IdempotencyKey, lease: Lease): Promise<Reservation> {
    const now = this.#open();
    const { node, leaseMs } = lease;
    const row = { scope: scopeFields(scope), now, key, expiresAt: now + ttlMs, digest, node, leaseMs };
    const result = await this.#commits.do(['reserve', row]);
    if (result.standing === 'free') return { kind: 'reserved' };
    if (result.standing === 'known') return { kind: 'known', first: rememberedOf(result.row) };
    return { kind: 'taken', digest: result.row.digest };
  }

  async unreserve(scope: Scope, key: string, node: string): Promise<void> {
    this.#open();
    await this.#commits.do(['unreserve', { scope: scopeFields(scope), key, node }]);
  }

  async remember(scope: Scope, { key, ttlMs, digest }: IdempotencyKey, reply: Message): Promise<Remembered> {
    const now = this.#open();
    const row = { now, key, expiresAt: now + ttlMs, digest, reply: JSON.stringify(reply) };
    return rememberedOf(await this.#commits.do(['remember', { scope: scopeFields(scope), ...row }]));
  }

  async recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    const now = this.#open();
    return this.#read(() => readRemembered(this.#file.tables, { scope, key, now }));
  }

  async putPushConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    const now = this.#open();
    const { taskId, id } = config;
    const put = { scope: scopeFields(scope), now, taskId, id, config: JSON.stringify(config), limit: limit ?? null };
    const result = await this.#commits.do(['put-push-config', put]);
    if (result === 'put') this.wakeups.deliveryReady(scope.agent);
    return result;
  }

  async pushConfig(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    this.#open();
    return this.#required(taskId, () => readPushConfig(this.#file.tables, { scope, taskId, id }));
  }

  async pushConfigs(
    scope: Scope,
    taskId: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<readonly StoredPushConfig[] | undefined> {
    this.#open();
    const { cursor, limit } = page;
    return this.#read(() => readPushConfigs(this.#file.tables, { scope, taskId, cursor, limit }));
  }

  async deletePushConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#open();
    return this.#commits.do(['delete-push-config', { scope: scopeFields(scope), taskId, id }]);
  }

  claimDeliveries: PushDeliveries['claimDeliveries'] = async ({ node, leaseMs, agents, limit, maxBytes }) => {
    const now = this.#open();
    const write = { now, node, leaseMs, agents, limit, maxBytes };
    const { claims, more } = await this.#commits.do(['claim-deliveries', write]);
    const queues = claims.map(({ scope: [agent, tenant, owner], taskId, records, ...claim }) => ({
      key: { scope: { agent, tenant, owner }, id: taskId },
      ...claim,
      records: records.map((record) => () => recordOf(record)),
    }));
    const note = ({ id }: TaskKey, error: unknown) => this.#file.setAside.add(id, unreadableReason(error));
    return { claims: await readableDeliveries(queues, { note, settle: this.settleDelivery }), more };
  };

  settleDelivery: PushDeliveries['settleDelivery'] = async (held, outcome) => {
    const now = this.#open();
    const settle = { queue: queueFields(held), now, epoch: held.epoch, outcome };
    const { isSettled, isReady } = await this.#commits.do(['settle-delivery', settle]);
    if (isReady) this.wakeups.deliveryReady(held.key.scope.agent);
    return isSettled;
  };

  deliveries: PushDeliveries['deliveries'] = async (query) => {
    this.#open();
    return this.#ask('deliveries', { read: 'deliveries', query });
  };

  replayDelivery: PushDeliveries['replayDelivery'] = async (queue, from) => {
    const now = this.#open();
    const outcome = await this.#commits.do(['replay-delivery', { queue: queueFields(queue), now, from }]);
    if (outcome === 'replayed') this.wakeups.deliveryReady(queue.key.scope.agent);
    return outcome;
  };

  rewriteConfig: PushDeliveries['rewriteConfig'] = async (queue, { from, to }) => {
    this.#open();
    const texts = { from: JSON.stringify(from), to: JSON.stringify(to) };
    return this.#commits.do(['rewrite-config', { queue: queueFields(queue), ...texts }]);
  };

  purgeDelivery: PushDeliveries['purgeDelivery'] = async (queue) => {
    const now = this.#open();
    return this.#commits.do(['purge-delivery', { queue: queueFields(queue), now }]);
  };

  async check(): Promise<StorageLoad> {
    const now = this.#open();
    const load = await this.#commits.do(['check', { now }]);
    const unreadable = this.#file.setAside.count;
    return { ...load, ...(unreadable > 0 && { unreadable }) };
  }

  watchCommits(watcher: (calls: number) => void): () => void {
    return this.#commits.watch(watcher);
  }

  async now(): Promise<number> {
    return this.#open();
  }

  async heartbeat(beat: NodeBeat): Promise<number> {
    const now = this.#open();
    this.#nodes.note(beat, now);
    return now;
  }

  async nodes(): Promise<readonly StorageNode[]> {
    this.#open();
    return this.#nodes.all();
  }

  async sweep({ taskRetentionMs, eventLogMs, limit }: Retention): Promise<Swept> {
    const now = this.#open();
    const times = { now, finishedBefore: now - taskRetentionMs, eventLogsBefore: now - eventLogMs };
    return this.#commits.do(['sweep', { ...times, limit }]);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.idle();
    await this.#file.close();
  }

  /** The time, while the storage is open. */
  #open(): number {
    if (this.#closing !== undefined) throw new StorageError('The storage is closed');
    return this.#clock.now();
  }

  #read<R>(read: () => R): R {
    try {
      return read();
    } catch (error) {
      if (error instanceof UnreadableTaskError) throw error;
      throw new StorageError(`The storage failed: ${fileFault(this.#file.path, error).text}`, { cause: error });
    }
  }

  /** Reads what a caller asked for by its task. @throws UnreadableTaskError */
  #required<R>(taskId: string, read: () => R): R {
    return this.#read(() => {
      try {
        return read();
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#file.setAside.add(taskId, fileFault(this.#file.path, error).text);
        throw new UnreadableTaskError(taskId, error);
      }
    });
  }

  async #ask<K extends keyof ReadResults>(
    _kind: K,
    request: ReadRequest & { readonly read: K },
  ): Promise<ReadResults[K]> {
    const [failed, answer] = (await this.#file.reader.ask(request)) as readonly [boolean, unknown];
    if (failed) throw new StorageError(`The storage failed: ${String(answer)}`);
    return answer as ReadResults[K];
  }

  #stored(scope: Scope, taskId: string): StoredTask | undefined {
    const now = this.#clock.now();
    return this.#required(taskId, () => readTask(this.#file.tables, { scope, id: taskId }, now));
  }

  /** False for a turn that a claim of the same time has brought already: a repeated claim brings it again. */
  #isNew({ scope, taskId, epoch }: ClaimedTurn, now: number): boolean {
    const { turns } = this.#claimed;
    if (this.#claimed.at !== now) turns.clear();
    this.#claimed.at = now;
    const key = JSON.stringify([epoch, scope, taskId]);
    if (turns.has(key)) return false;
    turns.add(key);
    return true;
  }

  /** The task of a turn that was just claimed by its own message. If it cannot be read, the message is taken back. */
  async #readHeld(held: HeldTurn): Promise<ReturnType<typeof readTask>> {
    try {
      return this.#required(held.key.id, () => readTask(this.#file.tables, held.key, this.#clock.now()));
    } catch (error) {
      await this.#commits.do(['release', { turn: heldFields(held), attempt: 1, how: 'done' }]).catch(() => {});
      throw error;
    }
  }

  /** A claimed turn, unless its task was deleted since. A turn that cannot be read is set aside. */
  async #claimOf(claimed: ClaimedTurn): Promise<Claim | undefined> {
    const { scope, taskId, turn, epoch } = claimed;
    try {
      return this.#readClaim(claimed);
    } catch (error) {
      const reason = fileFault(this.#file.path, error).text;
      const held = { scope, taskId, turn, epoch };
      await this.#commits
        .do(['leave-aside', { turn: held, reason }])
        .catch(() => this.#file.setAside.add(taskId, reason));
      return undefined;
    }
  }

  #readClaim(claimed: ClaimedTurn): Claim | undefined {
    const { taskId, epoch, turn, attempt, handOvers, began, message, caller, checkpoint, cancel } = claimed;
    const [agent, tenant, owner] = claimed.scope;
    const scope = { agent, tenant, owner };
    const found = readTask(this.#file.tables, { scope, id: taskId }, this.#clock.now());
    if (found === undefined) return undefined;
    return {
      scope,
      task: found.task,
      seq: found.seq,
      epoch,
      turn,
      attempt,
      handOvers,
      message: JSON.parse(message) as Message,
      caller: JSON.parse(caller) as CallerContext,
      began,
      ...(checkpoint !== null && { checkpoint: JSON.parse(checkpoint) as JsonValue }),
      ...(cancel !== null && { cancel: parsedCancel(cancel) }),
    };
  }
}

function holdingOf(result: HeldResult): Holding {
  if (result === false) return { held: false };
  return result === null ? { held: true } : { held: true, cancel: parsedCancel(result) };
}

function recordOf([seq, turn, text, history, metadata]: RecordFields): LogRecord {
  return LogRecord.fromText(seq, turn, text, {
    ...(history !== null && { history: JSON.parse(history) as readonly Message[] }),
    ...(metadata !== null && { metadata: JSON.parse(metadata) as JsonObject }),
  });
}
