import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { ConfigCount } from '../engine/accept-message.js';
import type { LocalTasks, LocalTurn, SweepTimes } from '../engine/local-tables.js';
import type { CancelRequest } from '../held-turn.js';
import { mergedCancel } from '../held-turn.js';
import type { AcceptedTurn, AppendedHead, Holder } from '../rules/task-head.js';
import { arrivalAt, nextPlace, waits } from '../rules/turn-place.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { Acceptance, Append, RecordPage, StorageLoad, Swept, TaskPage, TaskQuery } from '../task-storage.js';
import type { MemoryDeliveries } from './memory-deliveries.js';
import type { MemorySpaces } from './memory-space.js';
import type { MemoryTasks } from './memory-tasks.js';
import type { RememberedKey, RememberedKeys } from './remembered-keys.js';
import { endsWith, firstBytes, type QueuedTurn, type TaskEntry } from './task-entry.js';
import type { TurnQueue } from './turn-queue.js';

/** The parts of a storage that its engine writes to. */
export interface MemoryTablesOptions {
  readonly spaces: MemorySpaces;
  readonly tasks: MemoryTasks;
  readonly deliveries: MemoryDeliveries;
  readonly queue: TurnQueue;
  readonly keys: RememberedKeys;
}

/** The tables of a storage in memory. The entry of a task is its head. */
export class MemoryTables implements LocalTasks<TaskEntry, RememberedKey> {
  readonly #to: MemoryTablesOptions;
  #place = 0;

  constructor(options: MemoryTablesOptions) {
    this.#to = options;
  }

  find({ scope, id }: TaskKey): TaskEntry | undefined {
    return this.#to.tasks.find(scope, id);
  }

  insert(scope: Scope, task: Task, now: number): void {
    this.#to.tasks.insert(this.#to.spaces.of(scope), task, now);
  }

  read({ content }: TaskEntry): Task {
    return content.read();
  }

  turn(entry: TaskEntry, turn: number): LocalTurn | undefined {
    return entry.queued(turn);
  }

  free(now: number): Iterable<TaskEntry> {
    return this.#to.queue.free(now);
  }

  records({ floor, seq, content }: TaskEntry, after: number, maxBytes: number): RecordPage {
    const records = firstBytes(content.records(Math.max(0, after + 1 - floor)), maxBytes);
    return { records, floor, last: seq };
  }

  page(query: TaskQuery, now: number): TaskPage {
    return this.#to.spaces.find(query.scope)?.lists.page(query, now) ?? { tasks: [], total: 0 };
  }

  abandoned(agents: readonly string[], before: number, limit: number): readonly TaskEntry[] {
    return this.#to.tasks.abandoned(agents, before, limit);
  }

  load(now: number): StorageLoad {
    const { queue, deliveries } = this.#to;
    return {
      waiting: queue.waiting,
      pendingDeliveries: deliveries.pending,
      ...waits({ arrived: arrivalAt(queue.oldest), due: deliveries.oldestDue }, now),
    };
  }

  sweep(times: SweepTimes, limit: number): Pick<Swept, 'tasks' | 'records'> {
    return this.#to.tasks.sweep(times, limit);
  }

  sameTurn({ queue }: TaskEntry, { message, caller }: Acceptance): number | undefined {
    const text = JSON.stringify([message, caller]);
    return queue.findLast((turn) => JSON.stringify([turn.message, turn.caller]) === text)?.turn;
  }

  key({ scope, idempotency }: Acceptance): RememberedKey | undefined {
    return idempotency && this.#to.keys.find(scope, idempotency.key);
  }

  countConfigs({ pushConfigs }: TaskEntry, id: string): ConfigCount {
    return { count: pushConfigs?.size ?? 0, isKnown: pushConfigs?.has(id) === true };
  }

  create(call: Acceptance, turn: AcceptedTurn, now: number): TaskEntry {
    const { scope, task } = call;
    if (!('create' in task)) throw new StorageError('A message without a new task begins none');
    const entry = this.#to.tasks.insert(this.#to.spaces.of(scope), task.create, now);
    this.#enqueue(entry, turn, call, now);
    return entry;
  }

  addTurn(entry: TaskEntry, turn: AcceptedTurn, call: Acceptance, now: number): void {
    this.#to.tasks.makeRoomFor(call.message);
    this.#enqueue(entry, turn, call, now);
  }

  putConfig(
    entry: TaskEntry,
    { pushConfig }: Acceptance,
    at: { readonly position: number; readonly now: number },
  ): void {
    if (pushConfig === undefined) return;
    this.#to.deliveries.put(entry, { ...pushConfig, id: pushConfig.id ?? entry.id, taskId: entry.id }, at);
  }

  putKey(
    { scope, task, idempotency }: Acceptance,
    { turn, now, before }: { readonly turn: number; readonly now: number; readonly before: RememberedKey | undefined },
  ): void {
    if (idempotency === undefined) return;
    const taskId = 'create' in task ? task.create.id : task.id;
    this.#to.keys.put(scope, idempotency, { outcome: { taskId, turn }, now, before });
  }

  endsWith(entry: TaskEntry, append: Append): boolean {
    return endsWith(entry, append);
  }

  append(entry: TaskEntry, appended: AppendedHead, append: Append, now: number): boolean {
    const { authority, checkpoint, head, records } = append;
    const queued = typeof authority === 'number' ? entry.held : undefined;
    if (queued !== undefined && checkpoint !== undefined) queued.checkpoint = checkpoint;
    entry.append(append, appended);
    this.#to.tasks.setStatus(entry, head.status, now);
    const isDue = records.length > 0 && this.#to.deliveries.hasGrown(entry, now);
    this.#to.queue.update(entry);
    this.#to.tasks.hasGrown(entry);
    return isDue;
  }

  hold(entry: TaskEntry, { epoch, holder }: { readonly epoch: number; readonly holder: Holder | undefined }): void {
    entry.epoch = epoch;
    entry.holder = holder;
    this.#to.queue.update(entry);
  }

  drop(entry: TaskEntry, turn: number): void {
    entry.dropTurns(turn);
  }

  count(
    entry: TaskEntry,
    turn: number,
    { attempts, addedHandOvers }: { readonly attempts: number; readonly addedHandOvers: 0 | 1 },
  ): void {
    const queued = entry.queued(turn);
    if (queued === undefined) return;
    queued.attempts = attempts;
    queued.handOvers += addedHandOvers;
  }

  saveCheckpoint(entry: TaskEntry, turn: number, checkpoint: JsonValue): void {
    const queued = entry.queued(turn);
    if (queued !== undefined) queued.checkpoint = checkpoint;
  }

  cancelOf(entry: TaskEntry, turn: number): CancelRequest | undefined {
    return entry.queued(turn)?.cancel;
  }

  cancel(entry: TaskEntry, turn: number, request: CancelRequest): void {
    const queued = entry.queued(turn);
    if (queued !== undefined) queued.cancel = mergedCancel(queued.cancel, request);
  }

  remove(entry: TaskEntry): void {
    entry.holder = undefined;
    entry.dropTurns('all');
    this.#to.queue.update(entry);
    this.#to.tasks.remove(entry);
  }

  #enqueue(entry: TaskEntry, { turn, attempts, epoch, holder }: AcceptedTurn, call: Acceptance, now: number): void {
    this.#place = nextPlace(this.#place, now);
    const { message, caller } = call;
    const counts = { attempts, handOvers: 0, checkpoint: undefined, cancel: undefined };
    const queued: QueuedTurn = { order: this.#place, turn, message, caller, ...counts };
    entry.addTurn(queued);
    this.hold(entry, { epoch, holder });
  }
}
