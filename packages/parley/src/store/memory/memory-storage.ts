import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import { acceptMessage } from '../engine/accept-message.js';
import { appendRecords, appendRequest } from '../engine/append-records.js';
import { type ClaimedTurn, claimTurns } from '../engine/claim-turns.js';
import {
  beginTurn,
  cancelTask,
  deleteTask,
  releaseTurn,
  renewTurn,
  type Standing,
  saveCheckpoint,
} from '../engine/held-turns.js';
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
import { OwnerBlocks } from '../owner-blocks.js';
import type { OwnerStorage } from '../owner-storage.js';
import type { PushStorage } from '../push-storage.js';
import { REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-head.js';
import { arrivalAt, waits } from '../rules/turn-place.js';
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
import { MemoryDeliveries } from './memory-deliveries.js';
import { MemoryOwners } from './memory-owners.js';
import { MemoryPush } from './memory-push.js';
import { MemorySpaces } from './memory-space.js';
import { MemoryTables } from './memory-tables.js';
import { MemoryTasks } from './memory-tasks.js';
import { RememberedKeys, rememberedOf } from './remembered-keys.js';
import { claimOf, firstBytes, type TaskEntry } from './task-entry.js';
import { TurnQueue } from './turn-queue.js';

/** The options of a storage in memory. */
export interface MemoryStorageOptions {
  readonly clock: Clock;
  /** Bytes that the logs of finished tasks may take before the oldest are dropped. Default: 64 MiB. */
  readonly eventLogBytes?: number;
  /**
   * Tasks at most. Beyond it the finished tasks go, oldest first; if none has ended, new ones are refused. Default:
   * 100,000.
   */
  readonly maxTasks?: number;
  /** About how much memory all tasks may take together, their logs included. Default: 256 MiB. */
  readonly maxBytes?: number;
}

const EVENT_LOG_BYTES = 67_108_864;
const MAX_TASKS = 100_000;
const MAX_BYTES = 268_435_456;

/** Keeps everything in this process; nothing survives it. It keeps the given objects and copies none. */
export class MemoryStorage implements TaskStorage {
  readonly shared = false;
  readonly durability = 'none';
  readonly wakeups = new LocalWakeups();
  readonly keys: RememberedKeys;
  readonly push: PushStorage;
  readonly owners: OwnerStorage;
  readonly #blocks = new OwnerBlocks();
  readonly #lifetime: ClockedLifetime;
  readonly #spaces = new MemorySpaces();
  readonly #tasks: MemoryTasks;
  readonly #deliveries = new MemoryDeliveries(this.wakeups);
  readonly #queue = new TurnQueue();
  readonly #nodes = new NodeList();
  readonly #tables: MemoryTables;

  constructor({
    clock,
    eventLogBytes = EVENT_LOG_BYTES,
    maxTasks = MAX_TASKS,
    maxBytes = MAX_BYTES,
  }: MemoryStorageOptions) {
    const lifetime = new ClockedLifetime(clock);
    const spaces = this.#spaces;
    const deliveries = this.#deliveries;
    this.#lifetime = lifetime;
    this.#tasks = new MemoryTasks(spaces, { eventLogBytes, maxTasks, maxBytes, deliveries });
    const limits = { keys: REMEMBERED_LIMIT, bytes: REMEMBERED_BYTES };
    this.keys = new RememberedKeys({ lifetime, spaces, blocks: this.#blocks, limits });
    const written = {
      spaces,
      tasks: this.#tasks,
      deliveries,
      queue: this.#queue,
      keys: this.keys,
      blocks: this.#blocks,
    };
    const tables = new MemoryTables(written);
    this.#tables = tables;
    this.push = new MemoryPush({ lifetime, tasks: this.#tasks, deliveries, tables, wakeups: this.wakeups });
    const remove = (entry: TaskEntry) => this.#remove(entry);
    this.owners = new MemoryOwners({ lifetime, spaces, keys: this.keys, blocks: this.#blocks, remove });
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const now = this.#lifetime.now();
    const { scope, task, claim, pushConfig } = acceptance;
    const isNew = 'create' in task;
    const taskId = isNew ? task.create.id : task.id;
    const request = {
      isNew,
      contextId: isNew ? undefined : task.contextId,
      waitingLimit: acceptance.waitingLimit,
      claim,
      again: acceptance.again === true,
      hasKey: acceptance.idempotency !== undefined,
      config: pushConfig && { id: pushConfig.id ?? taskId, limit: acceptance.pushConfigLimit },
    };
    const at = { head: this.#tasks.find(scope, taskId), request, call: acceptance };
    const answer = acceptMessage(this.#tables, at, now);
    switch (answer.kind) {
      case 'accepted': {
        const { head: entry, turn, isClaimed, isReady } = answer;
        if (isReady) this.wakeups.workReady(scope.agent);
        const accepted = { kind: 'accepted', taskId, turn, seq: entry.seq } as const;
        return isClaimed && entry.held !== undefined ? { ...accepted, claim: claimOf(entry, entry.held) } : accepted;
      }
      case 'repeated':
        return { kind: 'repeated', first: rememberedOf(answer.key) };
      case 'terminal':
        return { kind: 'terminal', state: answer.head.state };
      case 'blocked':
        throw new OwnerBlockedError();
      default:
        return answer;
    }
  }

  async append(append: Append): Promise<AppendOutcome> {
    const now = this.#lifetime.now();
    const { key, authority } = append;
    const at = { head: this.#tasks.get(key), request: appendRequest(append), call: append };
    const { outcome, isDue, isReady } = appendRecords(this.#tables, at, now);
    if (isDue) this.wakeups.deliveryReady(key.scope.agent);
    if (outcome.kind === 'appended' && typeof authority !== 'number') this.wakeups.taskChanged(key);
    if (isReady) this.wakeups.workReady(key.scope.agent);
    return outcome;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    const now = this.#lifetime.now();
    const only = request.task && this.#tasks.get(request.task);
    const entries = request.task === undefined ? this.#queue.free(now) : only === undefined ? [] : [only];
    const take = (entry: TaskEntry, claimed: ClaimedTurn): Claim | undefined => {
      this.#tables.hold(entry, claimed);
      return entry.held && { ...claimOf(entry, entry.held), attempt: entry.held.attempts + 1 };
    };
    return claimTurns(entries, { request, now, take });
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    this.#lifetime.check();
    return holdingOf(beginTurn(this.#tables, { head: this.#tasks.get(turn.key), held: turn }, attempt));
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const leaseEnd = this.#lifetime.now() + request.leaseMs;
    return request.turns.map((held) =>
      holdingOf(renewTurn(this.#tables, { head: this.#tasks.get(held.key), held }, leaseEnd)),
    );
  }

  async release(held: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#lifetime.check();
    const at = { head: this.#tasks.get(held.key), held, attempt: held.attempt };
    const { waiting, isReady } = releaseTurn(this.#tables, at, how);
    if (isReady) this.wakeups.workReady(held.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(held: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#lifetime.check();
    return saveCheckpoint(this.#tables, { head: this.#tasks.get(held.key), held }, checkpoint);
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    const now = this.#lifetime.now();
    const answer = cancelTask(this.#tables, { head: this.#tasks.find(scope, taskId), request }, now);
    if (answer.kind === 'not-found') return answer;
    const { head: entry } = answer;
    if (answer.kind === 'terminal') return { kind: 'terminal', state: entry.state };
    this.wakeups.cancelAsked({ scope, id: taskId });
    const { turn } = answer;
    const requested = { kind: 'requested', seq: entry.seq, ...(turn !== undefined && { turn }) } as const;
    return answer.isRunning ? requested : { ...requested, stored: entry.stored(entry.content.read(), now) };
  }

  async task(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    const now = this.#lifetime.now();
    const entry = this.#tasks.find(scope, taskId);
    return entry?.stored(entry.content.read(), now);
  }

  async tasks(query: TaskQuery): Promise<TaskPage> {
    const now = this.#lifetime.now();
    return this.#spaces.find(query.scope)?.lists.page(query, now) ?? { tasks: [], total: 0 };
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#lifetime.check();
    const entry = this.#tasks.get(key);
    if (entry === undefined) return { records: [], floor: 1, last: 0 };
    const { floor, seq, content } = entry;
    const records = firstBytes(content.records(Math.max(0, after + 1 - floor)), maxBytes);
    return { records, floor, last: seq };
  }

  async heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    this.#lifetime.check();
    return keys.map((key) => {
      const entry = this.#tasks.get(key);
      return entry && { seq: entry.seq, state: entry.state, lastTurn: entry.began };
    });
  }

  async abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    const now = this.#lifetime.now();
    return this.#tasks.abandoned(agents, now - waitedMs, limit).map((entry) => entry.stored(entry.content.read(), now));
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    const now = this.#lifetime.now();
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    if (this.#tasks.find(scope, task.id) !== undefined) return false;
    this.#tasks.insert(this.#spaces.of(scope), task, now);
    return true;
  }

  async delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    const now = this.#lifetime.now();
    return deleteTask(this.#tasks.find(scope, taskId), (entry) => this.#remove(entry), now);
  }

  async check(): Promise<StorageLoad> {
    const now = this.#lifetime.now();
    return {
      waiting: this.#queue.waiting,
      pendingDeliveries: this.#deliveries.pending,
      ...waits({ arrived: arrivalAt(this.#queue.oldest), due: this.#deliveries.oldestDue }, now),
    };
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

  async sweep({ taskRetentionMs, eventLogMs, limit }: Retention): Promise<Swept> {
    const now = this.#lifetime.now();
    let left = limit;
    const keys = this.keys.sweep(now, left);
    left -= keys;
    const times = { now, finishedBefore: now - taskRetentionMs, eventLogsBefore: now - eventLogMs };
    const { tasks, records } = this.#tasks.sweep(times, left);
    left -= tasks + records;
    return { tasks, records, keys, more: left <= 0 };
  }

  async close(): Promise<void> {
    this.#lifetime.end();
  }

  #remove(entry: TaskEntry): void {
    this.#tables.remove(entry);
    this.wakeups.taskChanged({ scope: entry.space.scope, id: entry.id });
  }
}

function holdingOf({ held, cancel }: Standing<CancelRequest>): Holding {
  if (!held) return { held };
  return cancel === undefined ? { held } : { held, cancel };
}
