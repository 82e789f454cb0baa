import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import { isTerminal } from '../../model/task-state.js';
import type { Clock } from '../../runtime/clock.js';
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
import {
  type AcceptDecision,
  type AcceptedTurn,
  decideAccept,
  firstTurn,
  repeatedAccept,
} from '../rules/decide-accept.js';
import { checkAppend, decideAppend, unchangedOutcome } from '../rules/decide-append.js';
import { decideCancel, decideDelete, mergedCancel } from '../rules/decide-cancel.js';
import { REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-rules.js';
import { isHeld, isRunning, waitingIn } from '../rules/task-head.js';
import {
  claimedBy,
  isReadyAfterAppend,
  isReadyAfterRelease,
  releasedCounts,
  renewedHolder,
} from '../rules/turn-lease.js';
import { arrivalAt, nextPlace, waits } from '../rules/turn-place.js';
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
import { MemoryTasks, refusedAccept } from './memory-tasks.js';
import { type RememberedKey, RememberedKeys, rememberedOf } from './remembered-keys.js';
import { claimOf, endsWith, firstBytes, holdingOf, type QueuedTurn, type TaskEntry } from './task-entry.js';
import { type Demand, mayClaim, TurnQueue } from './turn-queue.js';

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
  #order = 0;

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
    this.push = new MemoryPush({ lifetime, tasks: this.#tasks, deliveries, wakeups: this.wakeups });
    const remove = (entry: TaskEntry) => this.#remove(entry);
    this.owners = new MemoryOwners({ lifetime, spaces, keys: this.keys, blocks: this.#blocks, remove });
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const now = this.#lifetime.now();
    const { scope, task, idempotency, pushConfig, pushConfigLimit } = acceptance;
    if (this.#blocks.has(scope, now)) throw new OwnerBlockedError();
    if (acceptance.again === true) {
      const earlier = this.#acceptedBefore(acceptance);
      if (earlier !== undefined) return earlier;
    }
    let keyBefore: RememberedKey | undefined;
    if (idempotency !== undefined) {
      const { standing, kept } = this.keys.standing(scope, idempotency.key, {
        node: acceptance.claim?.node,
        now,
      });
      if (standing === 'reserved') return { kind: 'reserved' };
      if (standing === 'known' && kept !== undefined) return { kind: 'repeated', first: rememberedOf(kept) };
      keyBefore = kept;
    }
    let entry: TaskEntry | undefined;
    let accepted: AcceptDecision;
    if ('create' in task) {
      entry = this.#tasks.insert(this.#spaces.of(scope), task.create, now);
      accepted = firstTurn(acceptance.claim, now);
    } else {
      const { claim, waitingLimit } = acceptance;
      entry = this.#tasks.find(scope, task.id);
      accepted = decideAccept(entry, { contextId: task.contextId, waitingLimit, claim }, now);
    }
    if (entry === undefined || accepted.kind !== 'accepted') return refusedAccept(accepted.kind, entry);
    if (!('create' in task)) {
      const hasRoom = !pushConfig || this.#deliveries.hasRoom(entry, pushConfig.id ?? task.id, pushConfigLimit);
      if (!hasRoom) return { kind: 'configs-full' };
      this.#tasks.makeRoomFor(acceptance.message);
    }
    const queued = this.#enqueue(entry, acceptance, accepted);
    const { turn } = accepted;
    if (pushConfig !== undefined) {
      const config = { ...pushConfig, id: pushConfig.id ?? entry.id, taskId: entry.id };
      this.#deliveries.put(entry, config, { position: 'create' in task ? 0 : entry.seq, now });
    }
    if (idempotency !== undefined) {
      this.keys.put(entry.space, idempotency, { outcome: { taskId: entry.id, turn }, now, before: keyBefore });
    }
    const { id: taskId, seq } = entry;
    if (accepted.attempts === 0) {
      if (accepted.isReady) this.wakeups.workReady(scope.agent);
      return { kind: 'accepted', taskId, turn, seq };
    }
    return { kind: 'accepted', taskId, turn, seq, claim: claimOf(entry, queued, accepted.attempts) };
  }

  async append(append: Append): Promise<AppendOutcome> {
    const now = this.#lifetime.now();
    checkAppend(append);
    const entry = this.#tasks.get(append.key);
    const request = {
      authority: append.authority,
      after: append.after,
      count: append.records.length,
      ends: isTerminal(append.head.status.state),
      endsTurn: append.endsTurn,
    };
    let decision = decideAppend(entry, request, { now });
    if (entry === undefined) return { kind: 'not-found' };
    if (decision.kind === 'compare') {
      decision = decideAppend(entry, request, { now, isInLog: endsWith(entry, append) });
    }
    if (decision.kind !== 'appended') return unchangedOutcome(decision, entry);
    const { checkpoint } = append;
    const queued = typeof append.authority === 'number' ? entry.held : undefined;
    if (queued !== undefined && checkpoint !== undefined) queued.checkpoint = checkpoint;
    entry.append(append, decision);
    this.#tasks.setStatus(entry, append.head.status, now);
    if (append.records.length > 0) this.#deliveries.hasGrown(entry, now);
    this.#queue.update(entry);
    this.#tasks.hasGrown(entry);
    const waiting = waitingIn(entry);
    if (typeof append.authority !== 'number') this.wakeups.taskChanged(append.key);
    if (isReadyAfterAppend(append, waiting)) this.wakeups.workReady(append.key.scope.agent);
    return { kind: 'appended', waiting };
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    const now = this.#lifetime.now();
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = request;
    const demand = { ...request, limit: limit + 1 };
    const claims: Claim[] = [];
    let bytes = 0;
    for (const entry of this.#claimable(demand, request.task, now)) {
      const [first] = entry.queue;
      if (first === undefined) continue;
      bytes += entry.content.bytes;
      if (claims.length >= limit || (claims.length > 0 && bytes > maxBytes)) return { claims, more: true };
      entry.hold(claimedBy(entry, first.turn, { lease: request, now }));
      this.#queue.update(entry);
      claims.push(claimOf(entry, first, first.attempts + 1));
    }
    return { claims, more: false };
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    this.#lifetime.check();
    const queued = this.#held(turn);
    if (queued === undefined) return { held: false };
    queued.attempts = attempt;
    return holdingOf(queued);
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const now = this.#lifetime.now();
    return request.turns.map((turn) => {
      const entry = this.#tasks.get(turn.key);
      const holder = entry && renewedHolder(entry, turn, now + request.leaseMs);
      if (holder === undefined || entry?.held === undefined) return { held: false };
      entry.holder = holder;
      return holdingOf(entry.held);
    });
  }

  async release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }> {
    this.#lifetime.check();
    const entry = this.#tasks.get(turn.key);
    if (entry === undefined) return { waiting: 0 };
    const queued = this.#held(turn);
    if (queued !== undefined) {
      entry.holder = undefined;
      if (how === 'done') entry.dropTurns(queued.turn);
      const counts = releasedCounts(how, turn.attempt);
      if (counts !== undefined) {
        queued.attempts = counts.attempts;
        queued.handOvers += counts.addedHandOvers;
      }
      this.#queue.update(entry);
    }
    const waiting = waitingIn(entry);
    if (queued !== undefined && isReadyAfterRelease(how, waiting)) this.wakeups.workReady(turn.key.scope.agent);
    return { waiting };
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#lifetime.check();
    const queued = this.#held(turn);
    if (queued !== undefined) queued.checkpoint = checkpoint;
    return queued !== undefined;
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    const now = this.#lifetime.now();
    const entry = this.#tasks.find(scope, taskId);
    const decision = decideCancel(entry);
    if (entry === undefined || decision.kind === 'not-found') return { kind: 'not-found' };
    if (decision.kind === 'terminal') return { kind: 'terminal', state: entry.state };
    const { held } = entry;
    if (held !== undefined) held.cancel = mergedCancel(held.cancel, request);
    this.wakeups.cancelAsked({ scope, id: taskId });
    const requested = { kind: 'requested', seq: entry.seq, ...(held && { turn: held.turn }) } as const;
    if (isRunning(entry, now)) return requested;
    return { ...requested, stored: entry.stored(entry.content.read(), now) };
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
    const entry = this.#tasks.find(scope, taskId);
    const decision = decideDelete(entry, now);
    if (entry === undefined || decision !== 'deleted') return decision;
    this.#remove(entry);
    return 'deleted';
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
    entry.holder = undefined;
    entry.dropTurns('all');
    this.#queue.update(entry);
    this.#tasks.remove(entry);
    this.wakeups.taskChanged({ scope: entry.space.scope, id: entry.id });
  }

  #enqueue(entry: TaskEntry, { message, caller }: Acceptance, accepted: AcceptedTurn): QueuedTurn {
    this.#order = nextPlace(this.#order, this.#lifetime.now());
    const queued: QueuedTurn = {
      order: this.#order,
      turn: accepted.turn,
      message,
      caller,
      attempts: accepted.attempts,
      handOvers: 0,
      checkpoint: undefined,
      cancel: undefined,
    };
    entry.addTurn(queued);
    entry.hold(accepted);
    this.#queue.update(entry);
    return queued;
  }

  #claimable(demand: Demand, task: TaskKey | undefined, now: number): readonly TaskEntry[] {
    if (task === undefined) return this.#queue.claimable(demand, now);
    const entry = this.#tasks.get(task);
    return entry !== undefined && mayClaim(entry, demand, now) ? [entry] : [];
  }

  /** The answer to a message that waits or runs, for a node that missed it. */
  #acceptedBefore({ scope, task, message, caller, claim }: Acceptance): AcceptOutcome | undefined {
    const taskId = 'create' in task ? task.create.id : task.id;
    const entry = this.#tasks.find(scope, taskId);
    const text = JSON.stringify([message, caller]);
    const queued = entry?.queue.findLast((turn) => JSON.stringify([turn.message, turn.caller]) === text);
    if (entry === undefined || queued === undefined) return undefined;
    const { turn, isClaimed, isReady } = repeatedAccept(entry, queued.turn, claim);
    if (isReady) this.wakeups.workReady(scope.agent);
    const accepted = { kind: 'accepted', taskId, turn, seq: entry.seq } as const;
    return isClaimed ? { ...accepted, claim: claimOf(entry, queued, Math.max(1, queued.attempts)) } : accepted;
  }

  /** The turn, if it is still held under this epoch. */
  #held(turn: HeldTurn): QueuedTurn | undefined {
    const entry = this.#tasks.get(turn.key);
    return entry !== undefined && isHeld(entry, turn) ? entry.held : undefined;
  }
}
