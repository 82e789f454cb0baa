import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { WrittenAppend } from '../engine/append-records.js';
import type { LocalLoad, LocalPage, LocalTasks, LocalTurn } from '../engine/local-tables.js';
import type { CancelRequest } from '../held-turn.js';
import { mergeCancels } from '../held-turn.js';
import type { AcceptedTurn, AppendedHead, Holder } from '../rules/task-head.js';
import { nextPlace } from '../rules/turn-place.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { Acceptance, RecordPage, TaskQuery } from '../task-storage.js';
import type { MemoryDeliveries } from './memory-deliveries.js';
import type { MemorySpaces } from './memory-space.js';
import type { MemoryTasks } from './memory-tasks.js';
import type { TaskEntry } from './task-entry.js';
import type { TurnQueue } from './turn-queue.js';

/** The dependencies of the tables. */
interface MemoryTablesOptions {
  readonly spaces: MemorySpaces;
  readonly tasks: MemoryTasks;
  readonly deliveries: MemoryDeliveries;
  readonly queue: TurnQueue;
}

/** The tables of a storage in memory. The entry of a task is its head. */
export class MemoryTables implements LocalTasks<TaskEntry> {
  readonly #to: MemoryTablesOptions;
  #place = 0;

  constructor(options: MemoryTablesOptions) {
    this.#to = options;
  }

  find({ scope, id }: TaskKey): TaskEntry | undefined {
    return this.#to.spaces.find(scope)?.tasks.get(id);
  }

  insert(scope: Scope, task: Task, now: number): TaskEntry {
    return this.#to.tasks.insert(this.#to.spaces.of(scope), task, now);
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

  records(entry: TaskEntry, after: number, maxBytes: number): RecordPage {
    const { floor, seq } = entry;
    return { records: entry.firstRecords(after, maxBytes), floor, last: seq };
  }

  page(query: TaskQuery): LocalPage<TaskEntry> {
    return this.#to.spaces.find(query.scope)?.lists.page(query) ?? { found: [], total: 0 };
  }

  abandoned(agents: readonly string[], before: number, limit: number): readonly TaskEntry[] {
    return this.#to.tasks.abandoned(agents, before, limit);
  }

  load(): LocalLoad {
    const { queue, deliveries } = this.#to;
    const { pending: pendingDeliveries, oldestDue } = deliveries;
    return { waiting: queue.waiting, oldestPlace: queue.oldest, pendingDeliveries, oldestDue };
  }

  addTurn(entry: TaskEntry, turn: AcceptedTurn, call: Acceptance, now: number): void {
    // The insert of a new task has made room for it with its message.
    if (!('create' in call.task)) this.#to.tasks.makeRoomFor(call.message);
    this.#place = nextPlace(this.#place, now);
    const { message, caller } = call;
    const { attempts, epoch, holder } = turn;
    const counts = { attempts, handOvers: 0, checkpoint: undefined, cancel: undefined };
    entry.addTurn({ order: this.#place, turn: turn.turn, message, caller, ...counts });
    this.hold(entry, { epoch, holder });
  }

  append(entry: TaskEntry, appended: AppendedHead, append: WrittenAppend, now: number): void {
    entry.append(append, appended);
    this.#to.tasks.setStatus(entry, append.head.status, now);
    this.#to.queue.update(entry);
    this.#to.tasks.hasGrown(entry);
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
    if (queued !== undefined) queued.cancel = mergeCancels(queued.cancel, request);
  }

  remove(entry: TaskEntry): void {
    entry.holder = undefined;
    entry.dropTurns('all');
    this.#to.queue.update(entry);
    this.#to.tasks.remove(entry);
  }
}
