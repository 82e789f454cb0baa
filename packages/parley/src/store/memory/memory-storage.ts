import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { TaskPushNotificationConfig } from '../../model/push-notification-config.js';
import type { Task } from '../../model/task.js';
import { isTerminal } from '../../model/task-state.js';
import type { Clock } from '../../runtime/clock.js';
import type { LogRecord } from '../../task/log-record.js';
import { mergedCancel } from '../merged-cancel.js';
import { checkAppend } from '../rules/decide-append.js';
import { REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-rules.js';
import type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  CancelOutcome,
  CancelRequest,
  Claim,
  HeldTurn,
  IdempotencyKey,
  Lease,
  RecordPage,
  Remembered,
  Renewal,
  Retention,
  Scope,
  StorageLoad,
  StoredTask,
  Swept,
  TaskKey,
  TaskPage,
  TaskQuery,
  TaskStorage,
  TurnRuns,
} from '../task-storage.js';
import { type WriteWatcher, WriteWatchers } from '../write-watchers.js';
import { type Demand, ExecutionQueue, isClaimable } from './execution-queue.js';
import { MemorySpaces } from './memory-space.js';
import { MemoryTasks } from './memory-tasks.js';
import { RememberedKeys } from './remembered-keys.js';
import type { Execution, TaskEntry } from './task-entry.js';

/** What a memory storage needs. */
export interface MemoryStorageOptions {
  readonly clock: Clock;
  /** How much memory the logs of finished tasks may take before the oldest are dropped. Default: 64 MiB. */
  readonly tailBytes?: number;
  /**
   * Tasks at most. Beyond it the finished tasks go, oldest first; if none has ended, new ones are refused. Default:
   * 100,000.
   */
  readonly maxTasks?: number;
  /** About how much memory all tasks may take together, their logs included. Default: 256 MiB. */
  readonly maxBytes?: number;
}

const TAIL_BYTES = 67_108_864;
const MAX_TASKS = 100_000;
const MAX_BYTES = 268_435_456;

/** Keeps everything in this process; nothing survives it. What it is given is kept as it is, not copied. */
export class MemoryStorage implements TaskStorage {
  readonly shared = false;
  readonly durability = 'none';
  readonly #clock: Clock;
  readonly #spaces = new MemorySpaces();
  readonly #tasks: MemoryTasks;
  readonly #keys = new RememberedKeys(this.#spaces, { keys: REMEMBERED_LIMIT, bytes: REMEMBERED_BYTES });
  readonly #queue = new ExecutionQueue();
  readonly #watchers = new WriteWatchers();
  #order = 0;
  #closed = false;

  constructor({ clock, tailBytes = TAIL_BYTES, maxTasks = MAX_TASKS, maxBytes = MAX_BYTES }: MemoryStorageOptions) {
    this.#clock = clock;
    this.#tasks = new MemoryTasks(this.#spaces, { tailBytes, maxTasks, maxBytes });
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const now = this.#open();
    const { scope, task, idempotency, pushConfig } = acceptance;
    if (idempotency !== undefined) {
      const first = this.#remembered(scope, idempotency.key, now);
      if (first !== undefined) return { kind: 'repeated', first };
    }
    let entry: TaskEntry | undefined;
    if ('create' in task) {
      entry = this.#tasks.insert(this.#spaces.of(scope), task.create, now);
    } else {
      entry = this.#tasks.find(scope, task.id);
      if (entry === undefined) return { kind: 'not-found' };
      if (entry.endedAt !== undefined) return { kind: 'terminal', state: entry.state };
      if (task.contextId !== undefined && task.contextId !== entry.contextId) return { kind: 'other-context' };
      if (entry.executions.length > acceptance.waitingLimit) return { kind: 'full' };
      this.#tasks.makeRoomFor(acceptance.message);
    }
    const execution = this.#enqueue(entry, acceptance);
    const { turn } = execution;
    if (pushConfig !== undefined) putConfig(entry, { ...pushConfig, id: pushConfig.id ?? entry.id, taskId: entry.id });
    if (idempotency !== undefined) {
      this.#keys.put(entry.space, idempotency, { taskId: entry.id, turn });
    }
    if (acceptance.claim === undefined || entry.executions.length > 1) {
      this.#queue.update(entry);
      return { kind: 'accepted', taskId: entry.id, turn };
    }
    const claim = this.#claim(entry, acceptance.claim, now);
    execution.attempts = claim.attempt;
    return { kind: 'accepted', taskId: entry.id, turn, claim };
  }

  async append(append: Append): Promise<AppendOutcome> {
    const now = this.#open();
    checkAppend(append);
    const entry = this.#tasks.get(append.key);
    if (entry === undefined) return { kind: 'not-found' };
    const { authority, records, head, endsTurn } = append;
    const mayRepeat = append.after !== entry.seq || records.length === 0;
    if (mayRepeat && authority === entry.epoch && isRepeat(entry, append)) {
      return { kind: 'appended', waiting: entry.waiting };
    }
    if (entry.endedAt !== undefined) return { kind: 'terminal' };
    const { held } = entry;
    if (authority === 'idle') {
      if (entry.isRunning(now)) return { kind: 'running' };
    } else if (authority !== 'force' && (held === undefined || authority !== entry.epoch)) {
      return { kind: 'fenced' };
    }
    if (append.after !== entry.seq) return { kind: 'fenced' };
    if (authority === 'force') entry.overtake();
    else if (authority !== 'idle' && held !== undefined && records.length > 0) held.began = true;
    entry.append(append);
    this.#tasks.setStatus(entry, head.status, now);
    if (isTerminal(head.status.state)) entry.dropExecutions();
    else if (endsTurn !== undefined) entry.dropExecution(endsTurn);
    this.#queue.update(entry);
    this.#tasks.hasGrown(entry);
    this.#watchers.appended(append);
    return { kind: 'appended', waiting: entry.waiting };
  }

  async claim(request: Demand & { readonly task?: TaskKey }): Promise<readonly Claim[]> {
    const now = this.#open();
    const claims: Claim[] = [];
    for (const entry of this.#claimable(request, now)) {
      claims.push(this.#claim(entry, request, now));
    }
    return claims;
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Renewal> {
    this.#open();
    const held = this.#held(turn);
    if (held === undefined) return { held: false };
    held.attempts = attempt;
    return held.cancel === undefined ? { held: true } : { held: true, cancel: held.cancel };
  }

  async renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const now = this.#open();
    return request.turns.map((turn) => {
      const held = this.#held(turn);
      if (held === undefined) return { held: false };
      held.leaseEnd = now + request.leaseMs;
      return held.cancel === undefined ? { held: true } : { held: true, cancel: held.cancel };
    });
  }

  async release(turn: HeldTurn, how: 'done' | 'again' | TurnRuns): Promise<{ readonly waiting: number }> {
    this.#open();
    const entry = this.#tasks.get(turn.key);
    if (entry === undefined) return { waiting: 0 };
    const held = this.#held(turn);
    if (held !== undefined) {
      if (how === 'done') entry.dropExecution(held.turn);
      else held.node = undefined;
      if (typeof how === 'object') Object.assign(held, { attempts: how.attempts, handOvers: how.handOvers });
      this.#queue.update(entry);
    }
    return { waiting: entry.waiting };
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    this.#open();
    const held = this.#held(turn);
    if (held === undefined) return false;
    held.checkpoint = checkpoint;
    return true;
  }

  async requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome> {
    const now = this.#open();
    const entry = this.#tasks.find(scope, taskId);
    if (entry === undefined) return { kind: 'not-found' };
    if (entry.endedAt !== undefined) return { kind: 'terminal', state: entry.state };
    const { held } = entry;
    if (held !== undefined) held.cancel = mergedCancel(held.cancel, request);
    return { kind: 'requested', stored: entry.stored(entry.content.read(), now) };
  }

  async task(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    const now = this.#open();
    const entry = this.#tasks.find(scope, taskId);
    return entry?.stored(entry.content.read(), now);
  }

  async tasks(query: TaskQuery): Promise<TaskPage> {
    const now = this.#open();
    return this.#spaces.find(query.scope)?.lists.page(query, now) ?? { tasks: [], total: 0 };
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#open();
    const entry = this.#tasks.get(key);
    if (entry === undefined) return { records: [], floor: 1, last: 0 };
    const { floor, seq, content } = entry;
    const records = firstBytes(content.records(Math.max(0, after + 1 - floor)), maxBytes);
    return { records, floor, last: seq };
  }

  async abandoned(agents: readonly string[], before: number, limit: number): Promise<readonly StoredTask[]> {
    const now = this.#open();
    return this.#tasks.abandoned(agents, before, limit).map((entry) => entry.stored(entry.content.read(), now));
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    const now = this.#open();
    if (this.#tasks.find(scope, task.id) !== undefined) return false;
    this.#tasks.insert(this.#spaces.of(scope), task, now);
    return true;
  }

  async delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'> {
    const now = this.#open();
    const entry = this.#tasks.find(scope, taskId);
    if (entry === undefined) return 'not-found';
    if (entry.isRunning(now)) return 'running';
    entry.dropExecutions();
    this.#queue.update(entry);
    this.#tasks.remove(entry);
    this.#watchers.deleted({ scope, id: taskId });
    return 'deleted';
  }

  async remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<void> {
    this.#open();
    this.#keys.put(this.#spaces.of(scope), key, { reply });
  }

  async recall(scope: Scope, key: string, now: number): Promise<Remembered | undefined> {
    this.#open();
    return this.#remembered(scope, key, now);
  }

  async putPushConfig(
    scope: Scope,
    config: TaskPushNotificationConfig & { readonly id: string; readonly taskId: string },
  ): Promise<boolean> {
    this.#open();
    const entry = this.#tasks.find(scope, config.taskId);
    if (entry !== undefined) putConfig(entry, config);
    return entry !== undefined;
  }

  async pushConfig(scope: Scope, taskId: string, id: string): Promise<TaskPushNotificationConfig | undefined> {
    this.#open();
    return this.#tasks.find(scope, taskId)?.pushConfigs?.get(id);
  }

  async pushConfigs(
    scope: Scope,
    taskId: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<readonly TaskPushNotificationConfig[] | undefined> {
    this.#open();
    const entry = this.#tasks.find(scope, taskId);
    if (entry === undefined) return undefined;
    const ids = [...(entry.pushConfigs?.keys() ?? [])].sort();
    const { cursor, limit } = page;
    return ids
      .filter((id) => cursor === undefined || id > cursor)
      .slice(0, limit)
      .flatMap((id) => entry.pushConfigs?.get(id) ?? []);
  }

  async deletePushConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#open();
    const entry = this.#tasks.find(scope, taskId);
    entry?.pushConfigs?.delete(id);
    return entry !== undefined;
  }

  async check(): Promise<StorageLoad> {
    this.#open();
    return { waiting: this.#queue.waiting };
  }

  watchWrites(watcher: WriteWatcher): () => void {
    return this.#watchers.add(watcher);
  }

  async sweep(retention: Retention): Promise<Swept> {
    this.#open();
    const { limit } = retention;
    let left = limit;
    const keys = this.#keys.sweep(retention.now, left);
    left -= keys;
    const { tasks, records } = this.#tasks.sweep(retention, left);
    left -= tasks + records;
    return { tasks, records, keys, more: left <= 0 };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** The time, while the storage is open. */
  #open(): number {
    if (this.#closed) throw new StorageError('The storage is closed');
    return this.#clock.now();
  }

  #remembered(scope: Scope, key: string, now: number): Remembered | undefined {
    const found = this.#keys.find(this.#spaces.find(scope), key, now);
    if (found === undefined || 'reply' in found.outcome) return found;
    return this.#tasks.find(scope, found.outcome.taskId) === undefined ? undefined : found;
  }

  #enqueue(entry: TaskEntry, { message, caller }: Acceptance): Execution {
    entry.turns += 1;
    this.#order += 1;
    const execution: Execution = {
      order: this.#order,
      turn: entry.turns,
      message,
      caller,
      attempts: 0,
      handOvers: 0,
      began: false,
      checkpoint: undefined,
      cancel: undefined,
      node: undefined,
      leaseEnd: 0,
    };
    entry.addExecution(execution);
    return execution;
  }

  #claimable(request: Demand & { readonly task?: TaskKey }, now: number): readonly TaskEntry[] {
    if (request.task === undefined) return this.#queue.claimable(request, now);
    const entry = this.#tasks.get(request.task);
    return entry !== undefined && request.limit > 0 && isClaimable(entry, request, now) ? [entry] : [];
  }

  #claim(entry: TaskEntry, lease: Lease, now: number): Claim {
    const execution = entry.hold(lease, now);
    this.#queue.update(entry);
    const { turn, handOvers, message, caller, began, checkpoint, cancel } = execution;
    const attempt = execution.attempts + 1;
    const { seq, epoch } = entry;
    const task = entry.content.read();
    const claim = { scope: entry.space.scope, task, seq, epoch, turn, attempt, handOvers, message, caller, began };
    if (checkpoint === undefined && cancel === undefined) return claim;
    return { ...claim, ...(checkpoint !== undefined && { checkpoint }), ...(cancel !== undefined && { cancel }) };
  }

  /** The execution, if this turn still holds it. */
  #held({ key, turn, epoch }: HeldTurn): Execution | undefined {
    const entry = this.#tasks.get(key);
    const held = entry?.held;
    return held !== undefined && held.turn === turn && entry?.epoch === epoch ? held : undefined;
  }
}

/** Whether the log ends with just these records, and the turn that ends with them is over. */
function isRepeat({ seq, floor, content, held }: TaskEntry, { after, records, endsTurn }: Append): boolean {
  if (seq !== after + records.length || floor > after + 1) return false;
  if (records.length === 0) return endsTurn !== undefined && held?.turn !== endsTurn;
  const last = [...content.records(after + 1 - floor)];
  return records.every((record, at) => record.text === last[at]?.text);
}

function putConfig(entry: TaskEntry, config: TaskPushNotificationConfig & { readonly id: string }): void {
  entry.pushConfigs ??= new Map();
  entry.pushConfigs.set(config.id, config);
}

function firstBytes(records: Iterable<LogRecord>, maxBytes: number): readonly LogRecord[] {
  const first: LogRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += record.text.length;
    if (bytes > maxBytes && first.length > 0) break;
    first.push(record);
  }
  return first;
}
