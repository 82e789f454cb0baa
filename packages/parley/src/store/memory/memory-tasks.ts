import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { isInterrupted, isTerminal } from '../../model/task-state.js';
import { messageBytes } from '../../task/event-bytes.js';
import { LogRecord } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import type { WrittenAppend } from '../engine/append-records.js';
import type { LocalLoad, LocalPage, LocalTasks, LocalTurn } from '../engine/local-tables.js';
import type { FinishedLog, FinishedTasks } from '../engine/sweep.js';
import type { CancelRequest } from '../held-turn.js';
import { mergeCancels } from '../held-turn.js';
import type { AcceptedTurn, AppendedHead, Holder } from '../rules/task-head.js';
import { nextPlace } from '../rules/turn-place.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { Acceptance, RecordPage, TaskQuery } from '../task-storage.js';
import { EndedTasks } from './ended-tasks.js';
import type { MemoryDeliveries } from './memory-deliveries.js';
import { type MemoryLimits, MemoryRoom } from './memory-room.js';
import type { MemorySpaces } from './memory-space.js';
import { TaskEntry } from './task-entry.js';
import { TurnQueue } from './turn-queue.js';

/** The tasks of all scopes, their turns, and their orders for retention. The entry of a task is its head. */
export class MemoryTasks implements LocalTasks<TaskEntry>, FinishedTasks {
  readonly #spaces: MemorySpaces;
  readonly #turns = new TurnQueue();
  /** The place of the latest turn. */
  #place = 0;
  readonly ended: EndedTasks;
  readonly #room: MemoryRoom;
  readonly #deliveries: MemoryDeliveries;
  /** Tasks that wait for their caller, oldest first. */
  readonly #interrupted = new Set<TaskEntry>();

  constructor(
    spaces: MemorySpaces,
    options: MemoryLimits & { readonly eventLogBytes: number; readonly deliveries: MemoryDeliveries },
  ) {
    this.#spaces = spaces;
    this.#deliveries = options.deliveries;
    this.#room = new MemoryRoom(options);
    this.ended = new EndedTasks(options.eventLogBytes, this.#room);
  }

  find({ scope, id }: TaskKey): TaskEntry | undefined {
    return this.#spaces.find(scope)?.tasks.get(id);
  }

  /**
   * Evicts finished tasks if needed.
   * @throws StorageFullError if the remaining tasks do not leave enough room.
   */
  insert(scope: Scope, task: Task, now: number): TaskEntry {
    const space = this.#spaces.of(scope);
    const { tasks } = space;
    const entry = new TaskEntry(space, { task, record: new LogRecord(1, 0, { task }), now });
    // Insert first: evicting the last task of a space deletes the space.
    tasks.set(task.id, entry);
    try {
      while (this.#room.isFullFor(entry.content.bytes(entry))) this.#dropOldest();
    } catch (error) {
      tasks.delete(task.id);
      this.#spaces.release(space);
      throw error;
    }
    this.#setStatus(entry, task.status, now);
    this.#room.note(entry);
    return entry;
  }

  read(entry: TaskEntry): Task {
    return entry.content.read(entry);
  }

  turn(entry: TaskEntry, turn: number): LocalTurn | undefined {
    return entry.queued(turn);
  }

  free(now: number): Iterable<TaskEntry> {
    return this.#turns.free(now);
  }

  records(entry: TaskEntry, after: number, maxBytes: number): RecordPage {
    const { floor, seq } = entry;
    return { records: entry.firstRecords(after, maxBytes), floor, last: seq };
  }

  page(query: TaskQuery): LocalPage<TaskEntry> {
    return this.#spaces.find(query.scope)?.lists.page(query) ?? { found: [], total: 0 };
  }

  load(): LocalLoad {
    const { waiting, oldest: oldestPlace } = this.#turns;
    const { pending: pendingDeliveries, oldestDue } = this.#deliveries;
    return { waiting, oldestPlace, pendingDeliveries, oldestDue };
  }

  /** @throws StorageFullError if tasks that have not ended leave no room for the message. */
  addTurn(entry: TaskEntry, turn: AcceptedTurn, call: Acceptance, now: number): void {
    // The insert of a new task has made room for it with its message.
    if (!('create' in call.task)) this.#makeRoomFor(call.message);
    this.#place = nextPlace(this.#place, now);
    entry.addTurn(turn, { order: this.#place, message: call.message, caller: call.caller });
    this.#turns.update(entry);
  }

  /** Evicts finished tasks if the task has grown too much, but never this one. */
  append(entry: TaskEntry, appended: AppendedHead, append: WrittenAppend, now: number): void {
    entry.append(append, appended);
    this.#setStatus(entry, append.head.status, now);
    this.#turns.update(entry);
    this.#room.note(entry);
    while (this.#room.isOver) {
      const oldest = this.ended.oldest(Number.POSITIVE_INFINITY);
      if (oldest === undefined || oldest === entry) return;
      this.remove(oldest);
    }
  }

  hold(entry: TaskEntry, { epoch, holder }: { readonly epoch: number; readonly holder: Holder | undefined }): void {
    entry.epoch = epoch;
    entry.holder = holder;
    this.#turns.update(entry);
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

  #makeRoomFor(message: Message): void {
    const bytes = messageBytes(message);
    while (this.#room.isShortOf(bytes)) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.ended.oldest(Number.POSITIVE_INFINITY);
    if (oldest === undefined) throw this.#room.refusal();
    this.remove(oldest);
  }

  /** Updates every order that depends on the status of a task. */
  #setStatus(entry: TaskEntry, status: TaskStatus, now: number): void {
    const since = statusTime(status);
    const hasChanged = entry.state !== status.state || entry.statusTime !== since;
    if (hasChanged && isInterrupted(entry.state)) this.#interrupted.delete(entry);
    entry.state = status.state;
    entry.statusTime = since;
    entry.space.madeLists?.touch(entry);
    if (isInterrupted(status.state)) this.#interrupted.add(entry);
    if (!isTerminal(status.state)) return;
    entry.endedAt = now;
    this.ended.add(entry);
  }

  remove(entry: TaskEntry): void {
    entry.holder = undefined;
    entry.dropTurns('all');
    this.#turns.update(entry);
    this.#deliveries.removeAll(entry);
    this.ended.remove(entry);
    this.#room.forget(entry);
    entry.space.tasks.delete(entry.id);
    this.#interrupted.delete(entry);
    entry.space.madeLists?.remove(entry);
    this.#spaces.release(entry.space);
  }

  /** Tasks that have waited for their caller since before a time, and have no waiting message. */
  abandoned(agents: readonly string[], before: number, limit: number): TaskEntry[] {
    const found: TaskEntry[] = [];
    for (const entry of this.#interrupted) {
      if (found.length >= limit) break;
      const isFree = entry.queue.length === 0 && entry.statusTime < before;
      if (isFree && agents.includes(entry.space.scope.agent)) found.push(entry);
    }
    return found;
  }

  setClockBack(now: number): void {
    this.ended.setClockBack(now);
  }

  logs(endedBefore: number): Iterable<FinishedLog> {
    return this.ended.logs(endedBefore);
  }

  sweepTasks(before: number, limit: number): number {
    let removed = 0;
    for (; removed < limit; removed += 1) {
      const entry = this.ended.oldest(before);
      if (entry === undefined) break;
      this.remove(entry);
    }
    return removed;
  }
}
