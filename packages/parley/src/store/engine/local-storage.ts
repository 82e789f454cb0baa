import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../telemetry/logger.js';
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
import { NodeList } from '../node-list.js';
import { OwnerBlocks } from '../owner-blocks.js';
import type { OwnerStorage } from '../owner-storage.js';
import type { PushStorage } from '../push-storage.js';
import type { KeyHead } from '../rules/key-head.js';
import { storedTask } from '../rules/task-head.js';
import { arrivalAt, oldestWaits } from '../rules/turn-place.js';
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
import { acceptMessage, type MessageAnswer, messageRequest } from './accept-message.js';
import { appendRecords, appendRequest } from './append-records.js';
import { type ClaimedTurn, claimOf, claimTurns, type TurnContent } from './claim-turns.js';
import { askToCancel, beginTurn, deleteTask, holdingOf, releaseTurn, renewTurn, saveCheckpoint } from './held-turns.js';
import { LocalCalls } from './local-calls.js';
import { LocalMessageKeys } from './local-message-keys.js';
import { LocalOwnerStorage } from './local-owner-storage.js';
import { LocalPush } from './local-push.js';
import type { LocalHead, LocalTables } from './local-tables.js';
import { sweep } from './sweep.js';
import { UnreadableRows } from './unreadable-rows.js';

/** The engine over synchronous tables. */
export class LocalStorage<Head extends LocalHead, Key extends KeyHead, Queue> implements TaskStorage {
  readonly shared = false;
  readonly durability: TaskStorage['durability'];
  readonly wakeups = new LocalWakeups();
  readonly keys: IdempotencyKeys;
  readonly push: PushStorage;
  readonly owners: OwnerStorage;
  readonly #tables: LocalTables<Head, Key, Queue>;
  readonly #calls: LocalCalls<Head, Key, Queue>;
  readonly #lifetime: ClockedLifetime;
  readonly #blocks = new OwnerBlocks();
  readonly #nodes = new NodeList();
  readonly #unreadable: UnreadableRows;

  /** `logger`: called once for each task that cannot be read. Default: none. */
  constructor(tables: LocalTables<Head, Key, Queue>, clock: Clock, logger: Logger = silentLogger) {
    const lifetime = new ClockedLifetime(clock);
    const unreadable = new UnreadableRows(logger);
    const parts = { tables, lifetime, blocks: this.#blocks, wakeups: this.wakeups, unreadable };
    this.#unreadable = unreadable;
    this.durability = tables.durability;
    this.#tables = tables;
    this.#calls = new LocalCalls(tables);
    this.#lifetime = lifetime;
    this.keys = new LocalMessageKeys(parts);
    this.push = new LocalPush(parts);
    this.owners = new LocalOwnerStorage(parts);
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const now = this.#lifetime.now();
    const { scope, task, pushConfig } = acceptance;
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    const key = { scope, id: 'create' in task ? task.create.id : task.id };
    const { tasks } = this.#tables;
    const at = { head: tasks.find(key), request: messageRequest(acceptance), call: acceptance };
    const { answer, outcome } = this.#tables.transaction(() => {
      const taken = acceptMessage(this.#calls, at, now);
      return { answer: taken, outcome: this.#outcomeOf(taken, key, acceptance) };
    });
    if (answer.kind === 'accepted') {
      if (answer.isReady) this.wakeups.workReady(scope.agent);
      if (pushConfig !== undefined) this.wakeups.deliveryReady(scope.agent);
    }
    return outcome;
  }

  async append(append: Append): Promise<AppendOutcome> {
    const now = this.#lifetime.now();
    const { key, authority } = append;
    const { tasks } = this.#tables;
    const at = { head: tasks.find(key), request: appendRequest(append), call: append };
    const { outcome, isDue, isReady } = this.#tables.transaction(() => appendRecords(this.#calls, at, now));
    if (outcome.kind === 'appended' && typeof authority !== 'number') this.wakeups.taskChanged(key);
    if (isDue) this.wakeups.deliveryReady(key.scope.agent);
    if (isReady) this.wakeups.workReady(key.scope.agent);
    return outcome;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    const now = this.#lifetime.now();
    const { limit } = request;
    return this.#tables.transaction(() => {
      const claims: Claim[] = [];
      for (;;) {
        let isAside = false;
        const take = (head: Head, claimed: ClaimedTurn): Claim | undefined => {
          const claim = this.#take(head, claimed);
          isAside ||= this.#unreadable.isAside(head.key);
          return claim;
        };
        const part = claimTurns(this.#claimable(request, now), {
          request: { ...request, limit: limit - claims.length },
          now,
          take,
        });
        claims.push(...part.claims);
        // Further turns replace those that cannot be read.
        if (!isAside || claims.length >= limit) return { claims, more: part.more };
      }
    });
  }

  async begin(held: HeldTurn, attempt: number): Promise<Holding> {
    this.#lifetime.check();
    const { tasks } = this.#tables;
    const at = { head: tasks.find(held.key), held };
    return this.#unreadable.required(held.key, () =>
      holdingOf(this.#tables.transaction(() => beginTurn(tasks, at, attempt))),
    );
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const leaseEnd = this.#lifetime.now() + request.leaseMs;
    const { tasks } = this.#tables;
    return this.#tables.transaction(() =>
      request.turns.map((held) => {
        const at = { head: tasks.find(held.key), held };
        // An unreadable request to cancel ends only its own turn.
        return this.#unreadable.readable(held.key, () => holdingOf(renewTurn(tasks, at, leaseEnd))) ?? { held: false };
      }),
    );
  }

  async release(held: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#lifetime.check();
    const { tasks } = this.#tables;
    const at = { head: tasks.find(held.key), held, attempt: held.attempt };
    const { waiting, isReady } = this.#tables.transaction(() => releaseTurn(tasks, at, how));
    if (isReady) this.wakeups.workReady(held.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(held: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#lifetime.check();
    const { tasks } = this.#tables;
    const at = { head: tasks.find(held.key), held };
    return this.#tables.transaction(() => saveCheckpoint(tasks, at, checkpoint));
  }

  async requestCancel(scope: Scope, id: string, request: CancelRequest): Promise<CancelOutcome> {
    const now = this.#lifetime.now();
    const { tasks } = this.#tables;
    const at = { head: tasks.find({ scope, id }), request };
    const answer = this.#unreadable.required({ scope, id }, () =>
      this.#tables.transaction(() => askToCancel(tasks, at, now)),
    );
    if (answer.kind === 'not-found') return answer;
    const { head } = answer;
    if (answer.kind === 'terminal') return { kind: 'terminal', state: head.state };
    this.wakeups.cancelAsked({ scope, id });
    const { turn } = answer;
    const requested = { kind: 'requested', seq: head.seq, ...(turn !== undefined && { turn }) } as const;
    return answer.isRunning ? requested : { ...requested, stored: this.#storedOf(head, now) };
  }

  async task(scope: Scope, id: string): Promise<StoredTask | undefined> {
    const now = this.#lifetime.now();
    const head = this.#tables.tasks.find({ scope, id });
    return head && this.#storedOf(head, now);
  }

  async tasks(query: TaskQuery): Promise<TaskPage> {
    const now = this.#lifetime.now();
    const { found, ...page } = this.#tables.tasks.page(query, (key, read) => this.#unreadable.readable(key, read));
    return { tasks: found.map(({ head, task }) => storedTask({ scope: head.key.scope, task }, head, now)), ...page };
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#lifetime.check();
    const head = this.#tables.tasks.find(key);
    if (head === undefined) return { records: [], floor: 1, last: 0 };
    return this.#unreadable.required(key, () => this.#tables.tasks.records(head, after, maxBytes));
  }

  async heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    this.#lifetime.check();
    return keys.map((key) => {
      const head = this.#tables.tasks.find(key);
      return head && { seq: head.seq, state: head.state, lastTurn: head.began };
    });
  }

  async abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    const now = this.#lifetime.now();
    for (let asked = limit; ; ) {
      const heads = this.#tables.tasks.abandoned(agents, now - waitedMs, asked);
      const found = heads.flatMap((head) => this.#unreadable.readable(head.key, () => this.#stored(head, now)) ?? []);
      if (found.length >= limit || heads.length < asked) return found.slice(0, limit);
      asked += heads.length - found.length;
    }
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    const now = this.#lifetime.now();
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    if (this.#tables.tasks.find({ scope, id: task.id }) !== undefined) return false;
    this.#tables.transaction(() => this.#tables.tasks.insert(scope, task, now));
    return true;
  }

  async delete(scope: Scope, id: string): Promise<'deleted' | 'not-found' | 'running'> {
    const now = this.#lifetime.now();
    const { tasks } = this.#tables;
    const outcome = this.#tables.transaction(() =>
      deleteTask(tasks.find({ scope, id }), (head) => tasks.remove(head), now),
    );
    if (outcome === 'deleted') this.wakeups.taskChanged({ scope, id });
    return outcome;
  }

  async check(): Promise<StorageLoad> {
    const now = this.#lifetime.now();
    const { waiting, oldestPlace, pendingDeliveries, oldestDue } = this.#tables.tasks.load();
    const ages = oldestWaits({ arrived: arrivalAt(oldestPlace), due: oldestDue }, now);
    const unreadable = this.#unreadable.count;
    return { waiting, pendingDeliveries, ...ages, ...(unreadable > 0 && { unreadable }) };
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
    const now = this.#lifetime.now();
    return this.#tables.transaction(() => sweep(this.#tables, retention, now));
  }

  async close(): Promise<void> {
    this.#lifetime.end();
    this.#tables.close();
  }

  *#claimable({ task }: ClaimRequest, now: number): Generator<Head, void> {
    const { tasks } = this.#tables;
    const only = task && tasks.find(task);
    for (const head of task === undefined ? tasks.free(now) : only === undefined ? [] : [only]) {
      if (!this.#unreadable.isAside(head.key)) yield head;
    }
  }

  /** Writes and reads a claimed turn. An unreadable turn is released, and skipped until a restart. */
  #take(head: Head, claimed: ClaimedTurn): Claim | undefined {
    const { tasks } = this.#tables;
    const { epoch, holder } = head;
    try {
      tasks.hold(head, claimed);
      const turn = tasks.turn(head, claimed.turn);
      return turn && this.#claimOf(head, { ...turn, attempt: turn.attempts + 1 });
    } catch (error) {
      if (error instanceof StorageError) throw error;
      tasks.hold(head, { epoch, holder });
      this.#unreadable.setAside(head.key, error);
      return undefined;
    }
  }

  #outcomeOf(answer: MessageAnswer<Head, Key>, key: TaskKey, acceptance: Acceptance): AcceptOutcome {
    switch (answer.kind) {
      case 'accepted': {
        const { head, turn, isClaimed } = answer;
        const accepted = { kind: 'accepted', taskId: key.id, turn, seq: head.seq } as const;
        return isClaimed ? { ...accepted, claim: this.#acceptedClaim(acceptance, head, turn) } : accepted;
      }
      case 'repeated': {
        const { keys } = this.#tables;
        return { kind: 'repeated', first: this.#unreadable.required(key, () => keys.rememberedOf(answer.key)) };
      }
      case 'terminal':
        return { kind: 'terminal', state: answer.head.state };
      default:
        return answer;
    }
  }

  /** The claim of an accepted message. A task that the message has just created need not be read. */
  #acceptedClaim({ scope, task, message, caller, again }: Acceptance, head: Head, turn: number): Claim {
    const first = { message, caller, attempt: 1, handOvers: 0 };
    if ('create' in task && again !== true) {
      const { seq, epoch, began } = head;
      return claimOf({ scope, task: task.create, seq }, { turn, epoch, began }, first);
    }
    return this.#unreadable.required(head.key, () => {
      // Only the turn of a repeated message may have later changes.
      const stored = again === true ? this.#tables.tasks.turn(head, turn) : undefined;
      return this.#claimOf(head, stored === undefined ? first : { ...stored, attempt: Math.max(1, stored.attempts) });
    });
  }

  /** The claim of the turn that a node holds now. */
  #claimOf(head: Head, content: TurnContent): Claim {
    const { key, seq, epoch, began, holder } = head;
    const stored = { scope: key.scope, task: this.#tables.tasks.read(head), seq };
    return claimOf(stored, { turn: holder?.turn ?? 0, epoch, began }, content);
  }

  #storedOf(head: Head, now: number): StoredTask {
    return this.#unreadable.required(head.key, () => this.#stored(head, now));
  }

  #stored(head: Head, now: number): StoredTask {
    return storedTask({ scope: head.key.scope, task: this.#tables.tasks.read(head) }, head, now);
  }
}
