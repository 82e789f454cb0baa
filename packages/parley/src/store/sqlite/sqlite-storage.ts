import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import { claimOf } from '../engine/claim-turns.js';
import type { ServedFile } from '../file-owner.js';
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
import { parseCancel, parseTurn } from '../held-turn.js';
import type { IdempotencyKeys } from '../idempotency-keys.js';
import { NodeList } from '../node-list.js';
import type { OwnerStorage } from '../owner-storage.js';
import type { PushStorage } from '../push-storage.js';
import { stateOfNumber } from '../state-numbers.js';
import { ClockedLifetime } from '../storage-lifetime.js';
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
import { LocalWakeups } from '../wakeups.js';
import { fileFault } from './file-fault.js';
import { FileReads } from './file-reads.js';
import { GroupCommit } from './group-commit.js';
import { KnownConfigs } from './known-configs.js';
import { rememberedOf } from './read-keys-and-configs.js';
import { readProgress, readRecords, readTask } from './read-task.js';
import { recordOf } from './record-rows.js';
import { type OpenFile, SqliteFile, type SqliteFileOptions } from './sqlite-file.js';
import { SqliteKeys } from './sqlite-keys.js';
import { SqliteOwners } from './sqlite-owners.js';
import { SqlitePush } from './sqlite-push.js';
import { storedOf, TextPage, taskOf } from './task-texts.js';
import { acceptWrite, appendWrite, heldFields, newTaskFields, scopeFields } from './to-write-requests.js';
import type { ClaimedTurn, HeldResult, Settled, WriteResults } from './write-requests.js';

/** The dependencies of a storage on a file. */
interface SqliteStorageOptions {
  readonly clock: Clock;
  readonly file: OpenFile;
  readonly wakeups: LocalWakeups;
  /** True if no other process writes the file. */
  readonly isAlone?: boolean;
  /** Called with the node of each lease before it is asked for. */
  readonly onLease?: (node: string) => void;
}

/** Maximum bytes of a log that is read on the main thread. Longer ones are read on a separate thread. */
const SMALL_READ = 1_048_576;

/**
 * Stores everything in one file, for one server process. One thread writes; waiting calls share a transaction. The main
 * thread reads single tasks. A third thread reads lists and long logs; it starts at its first use.
 */
export class SqliteStorage implements TaskStorage {
  readonly shared: boolean = false;
  readonly durability: 'power-loss' | 'process';
  readonly wakeups: LocalWakeups;
  readonly keys: IdempotencyKeys;
  readonly push: PushStorage;
  readonly owners: OwnerStorage;
  readonly #lifetime: ClockedLifetime;
  readonly #clock: Clock;
  readonly #file: OpenFile;
  readonly #commits: GroupCommit;
  readonly #reads: FileReads;
  readonly #nodes = new NodeList();
  readonly #onLease: SqliteStorageOptions['onLease'];
  /** The turns that were claimed in the same ms as the last one. */
  readonly #claimed = { at: 0, turns: new Set<string>() };
  #closing: Promise<void> | undefined;

  private constructor({ clock, file, wakeups, isAlone = false, onLease }: SqliteStorageOptions) {
    this.#clock = clock;
    this.#file = file;
    this.#onLease = onLease;
    this.wakeups = wakeups;
    this.durability = file.durability;
    const lifetime = new ClockedLifetime(clock);
    const known = isAlone ? new KnownConfigs() : undefined;
    const commits = new GroupCommit(file.writer, { clock, onWritten: known?.written });
    const reads = new FileReads(file, clock);
    this.#lifetime = lifetime;
    this.#commits = commits;
    this.#reads = reads;
    this.keys = new SqliteKeys({ lifetime, commits, reads });
    this.push = new SqlitePush({ lifetime, commits, reads, setAside: file.setAside, wakeups, onLease, known });
    this.owners = new SqliteOwners({ lifetime, commits, reads, wakeups: this.wakeups });
  }

  /**
   * Opens the file. Ends all leases in it: turns that ran when the last process ended can be claimed at once.
   * @throws StorageError with the path, if the file is in use, damaged, or written by another program or a newer
   * version. The file is unchanged then.
   */
  static async open(options: SqliteFileOptions): Promise<SqliteStorage> {
    return new SqliteStorage({ ...options, file: await openFile(options), wakeups: new LocalWakeups(), isAlone: true });
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const now = this.#lifetime.now();
    const { scope, task, message, caller } = acceptance;
    if (acceptance.claim !== undefined) this.#onLease?.(acceptance.claim.node);
    const result = await this.#commits.do(acceptWrite(acceptance, now));
    if (result.length === 1) {
      if (result[0] === 'blocked') throw new OwnerBlockedError();
      return { kind: result[0] };
    }
    switch (result[0]) {
      case 'accepted': {
        const [, turn, seq, epoch, isReady] = result;
        if (acceptance.pushConfig !== undefined) this.wakeups.deliveryReady(scope.agent);
        const taskId = 'create' in task ? task.create.id : task.id;
        if (epoch === null) {
          if (isReady) this.wakeups.workReady(scope.agent);
          return { kind: 'accepted', taskId, turn, seq };
        }
        // A message to an unreadable task changes nothing.
        const stored =
          'create' in task && seq === 1
            ? { scope, task: task.create, seq }
            : await this.#readHeld({ key: { scope, id: taskId }, turn, epoch });
        if (stored === undefined) return { kind: 'not-found' };
        const claim = claimOf(stored, { turn, epoch, began: 0 }, { attempt: 1, handOvers: 0, message, caller });
        return { kind: 'accepted', taskId, turn, seq, claim };
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
    const now = this.#lifetime.now();
    const result = await this.#commits.do(appendWrite(append, now));
    if (result[0] !== 'appended') return { kind: result[0] };
    const [, waiting, isDue, isReady] = result;
    if (typeof append.authority !== 'number') this.wakeups.taskChanged(append.key);
    if (isReady === true) this.wakeups.workReady(append.key.scope.agent);
    if (isDue === true) this.wakeups.deliveryReady(append.key.scope.agent);
    return { kind: 'appended', waiting };
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    const now = this.#lifetime.now();
    const { node, leaseMs, agents, limit, maxBytes = Number.POSITIVE_INFINITY, task, holds } = request;
    const key = task === undefined ? null : ([scopeFields(task.scope), task.id] as const);
    this.#onLease?.(node);
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
      // Unreadable turns were skipped; further turns replace them.
      const isWhole = claims.length - before === turns.length;
      if (isWhole || turns.length === 0) return { claims, more };
    }
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const now = this.#lifetime.now();
    this.#onLease?.(request.node);
    const renewals = await this.#commits.do([
      'renew',
      { now, leaseMs: request.leaseMs, turns: request.turns.map(heldFields) },
    ]);
    return renewals.map((result) =>
      result === undefined ? { held: 'unknown', error: 'The row of the task cannot be read' } : holdingOf(result),
    );
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    this.#lifetime.check();
    return holdingOf(await this.#commits.do(['begin', { turn: heldFields(turn), attempt }]));
  }

  async release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#lifetime.check();
    const write = { turn: heldFields(turn), attempt: turn.attempt, how };
    const { waiting, isReady } = await this.#commits.do(['release', write]);
    if (isReady) this.wakeups.workReady(turn.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#lifetime.check();
    return this.#commits.do(['checkpoint', { turn: heldFields(turn), checkpoint: JSON.stringify(checkpoint) }]);
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    const now = this.#lifetime.now();
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
    this.#lifetime.check();
    return this.#stored(scope, taskId);
  }

  async tasks(query: TaskQuery): Promise<TaskPage> {
    const now = this.#lifetime.now();
    return new TextPage(await this.#reads.page(query), { scope: query.scope, now });
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#lifetime.check();
    if (maxBytes <= SMALL_READ) {
      return this.#reads.ofTask(key.id, (tables) => readRecords(tables, { key, after, maxBytes }));
    }
    const page = await this.#reads.apart('records', { read: 'records', key, after, maxBytes });
    return { ...page, records: page.records.map(recordOf) };
  }

  async heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    this.#lifetime.check();
    return this.#reads.here((tables) => readProgress(tables, keys));
  }

  async abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    const now = this.#lifetime.now();
    const found = await this.#reads.apart('abandoned', { read: 'abandoned', agents, before: now - waitedMs, limit });
    return found.map(([[agent, tenant, owner], row]) =>
      storedOf(row, taskOf(row), { scope: { agent, tenant, owner }, now }),
    );
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    const now = this.#lifetime.now();
    const write = { scope: scopeFields(scope), now, taskId: task.id, task: newTaskFields(task) };
    const isCreated = await this.#commits.do(['create', write]);
    if (isCreated === 'blocked') throw new OwnerBlockedError();
    return isCreated;
  }

  async delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    const now = this.#lifetime.now();
    const outcome = await this.#commits.do(['delete', { scope: scopeFields(scope), now, taskId }]);
    if (outcome === 'deleted') this.wakeups.taskChanged({ scope, id: taskId });
    return outcome;
  }

  async check(): Promise<StorageLoad> {
    const now = this.#lifetime.now();
    const load = await this.#commits.do(['check', { now }]);
    const unreadable = this.#file.setAside.count;
    return { ...load, ...(unreadable > 0 && { unreadable }) };
  }

  watchCommits(watcher: (calls: number) => void): () => void {
    return this.#commits.watch(watcher);
  }

  async now(): Promise<number> {
    return this.#lifetime.now();
  }

  async heartbeat(beat: NodeBeat): Promise<number> {
    const now = this.#lifetime.now();
    this.#nodes.note(beat, now);
    return now;
  }

  async nodes(): Promise<readonly StorageNode[]> {
    this.#lifetime.check();
    return this.#nodes.all();
  }

  async sweep(retention: Retention): Promise<Swept> {
    return this.#commits.do(['sweep', { now: this.#lifetime.now(), retention }]);
  }

  close(): Promise<void> {
    this.#lifetime.end();
    this.#closing ??= this.#clock.hold(this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.idle();
    this.#reads.flush();
    await this.#file.close();
  }

  #stored(scope: Scope, taskId: string): StoredTask | undefined {
    const now = this.#clock.now();
    return this.#reads.ofTask(taskId, (tables) => readTask(tables, { scope, id: taskId }, now));
  }

  /** False for a turn that a claim in the same ms has already returned: a repeated claim returns it again. */
  #isNew({ scope, taskId, epoch }: ClaimedTurn, now: number): boolean {
    const { turns } = this.#claimed;
    if (this.#claimed.at !== now) turns.clear();
    this.#claimed.at = now;
    const key = JSON.stringify([epoch, scope, taskId]);
    if (turns.has(key)) return false;
    turns.add(key);
    return true;
  }

  /** Reads the task of a turn that its own message has just claimed. If it cannot be read, the message is removed. */
  async #readHeld(held: HeldTurn): Promise<ReturnType<typeof readTask>> {
    try {
      return this.#reads.ofTask(held.key.id, (tables) => readTask(tables, held.key, this.#clock.now()));
    } catch (error) {
      await this.#commits.do(['release', { turn: heldFields(held), attempt: 1, how: 'done' }]).catch(() => {});
      throw error;
    }
  }

  /** Returns a claimed turn, unless its task was deleted. A turn that cannot be read is released and skipped. */
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
    const { taskId, attempt, handOvers } = claimed;
    const [agent, tenant, owner] = claimed.scope;
    const scope = { agent, tenant, owner };
    const stored = readTask(this.#file.tables, { scope, id: taskId }, this.#clock.now());
    return stored && claimOf(stored, claimed, { attempt, handOvers, ...parseTurn(claimed) });
  }
}

/** The class with a constructor for this folder: the constructor is not part of the public types. */
export const OpenedSqlite = SqliteStorage as unknown as new (options: SqliteStorageOptions) => SqliteStorage;

/** Opens a file, and gives other processes access to its writer. They read the file themselves. */
export async function openServedSqlite(
  options: SqliteFileOptions,
): Promise<{ readonly storage: SqliteStorage; readonly file: ServedFile }> {
  const file = await openFile(options);
  const { path, writer } = file;
  const wakeups = new LocalWakeups();
  const served: ServedFile = {
    path,
    write: async (batches) => (await writer.ask({ batches })) as readonly Uint8Array[],
    keepLeases: async (nodes) => {
      const [[failed, result]] = (await writer.ask([['keep-leases', nodes]])) as readonly [Settled];
      if (failed) throw new StorageError(`The storage failed: ${result}`);
      for (const agent of result as WriteResults['keep-leases']) {
        wakeups.workReady(agent);
        wakeups.deliveryReady(agent);
      }
    },
  };
  return { storage: new OpenedSqlite({ ...options, file, wakeups }), file: served };
}

async function openFile(options: SqliteFileOptions): Promise<SqliteFile> {
  const file = await SqliteFile.open(options);
  if (file.durability === 'process') {
    options.logger.warn('tasks survive the end of the process, but not the loss of power', { path: file.path });
  }
  return file;
}

function holdingOf(result: HeldResult): Holding {
  if (result === false) return { held: false };
  return result === null ? { held: true } : { held: true, cancel: parseCancel(result) };
}
