import { StorageFullError } from '../../errors/storage-full-error.js';
import type { Message } from '../../model/message.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { isInterrupted, isTerminal } from '../../model/task-state.js';
import { messageBytes } from '../../task/event-bytes.js';
import { LogRecord } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import type { FinishedLog, FinishedTasks } from '../engine/sweep.js';
import { EndedTasks } from './ended-tasks.js';
import { EventLogs } from './event-logs.js';
import type { MemoryDeliveries } from './memory-deliveries.js';
import type { MemorySpace, MemorySpaces } from './memory-space.js';
import { TaskEntry } from './task-entry.js';

/** The tasks of all scopes, and their orders for retention. */
export class MemoryTasks implements FinishedTasks {
  readonly #spaces: MemorySpaces;
  readonly #ended = new EndedTasks('endedPlace');
  readonly #logs: EventLogs;
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
    this.#logs = new EventLogs(options.eventLogBytes, (entry) => this.#room.note(entry));
    this.#room = new MemoryRoom(options);
  }

  /**
   * Inserts a task with its first record; the caller has checked that the id is free. Evicts finished tasks if needed.
   * @throws StorageFullError if the remaining tasks do not leave enough room.
   */
  insert(space: MemorySpace, task: Task, now: number): TaskEntry {
    const { tasks } = space;
    const entry = new TaskEntry(space, { task, record: new LogRecord(1, 0, { task }), now });
    // Insert first: evicting the last task of a space deletes the space.
    tasks.set(task.id, entry);
    try {
      while (this.#room.isFullFor(entry.content.bytes)) this.#dropOldest();
    } catch (error) {
      tasks.delete(task.id);
      this.#spaces.release(space);
      throw error;
    }
    this.setStatus(entry, task.status, now);
    this.#room.note(entry);
    return entry;
  }

  /**
   * Evicts finished tasks to make room for a message.
   * @throws StorageFullError if the remaining tasks do not leave enough room.
   */
  makeRoomFor(message: Message): void {
    const bytes = messageBytes(message);
    while (this.#room.isShortOf(bytes)) this.#dropOldest();
  }

  /** Updates the size of a changed task. Evicts finished tasks if needed, but never this one. */
  hasGrown(entry: TaskEntry): void {
    this.#room.note(entry);
    while (this.#room.isOver) {
      const oldest = this.#ended.oldest(Number.POSITIVE_INFINITY);
      if (oldest === undefined || oldest === entry) return;
      this.remove(oldest);
    }
  }

  #dropOldest(): void {
    const oldest = this.#ended.oldest(Number.POSITIVE_INFINITY);
    if (oldest === undefined) throw this.#room.refusal();
    this.remove(oldest);
  }

  /** Updates every order that depends on the status of a task. */
  setStatus(entry: TaskEntry, status: TaskStatus, now: number): void {
    const since = statusTime(status);
    const hasChanged = entry.state !== status.state || entry.statusTime !== since;
    if (hasChanged && isInterrupted(entry.state)) this.#interrupted.delete(entry);
    entry.state = status.state;
    entry.statusTime = since;
    entry.space.madeLists?.touch(entry);
    if (isInterrupted(status.state)) this.#interrupted.add(entry);
    if (!isTerminal(status.state)) return;
    entry.endedAt = now;
    this.#ended.add(entry);
    this.#logs.add(entry);
  }

  remove(entry: TaskEntry): void {
    this.#deliveries.removeAll(entry);
    this.#logs.remove(entry);
    this.#ended.remove(entry);
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
    this.#ended.setClockBack(now);
  }

  logs(endedBefore: number): Iterable<FinishedLog> {
    return this.#logs.before(endedBefore);
  }

  sweepTasks(before: number, limit: number): number {
    let removed = 0;
    for (; removed < limit; removed += 1) {
      const entry = this.#ended.oldest(before);
      if (entry === undefined) break;
      this.remove(entry);
    }
    return removed;
  }
}

/** The limits of a storage in memory. */
interface MemoryLimits {
  readonly maxTasks: number;
  readonly maxBytes: number;
}

/** The rest is reserved for open tasks: otherwise a task full of waiting messages could not end. */
const FOR_NEW_TASKS = 0.9;

/** Counts the tasks of a storage in memory, and their approximate bytes. */
class MemoryRoom {
  readonly #limits: MemoryLimits;
  #tasks = 0;
  #bytes = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Updates the size of a new or changed task. */
  note(entry: TaskEntry): void {
    if (entry.countedBytes === 0) this.#tasks += 1;
    const { bytes } = entry.content;
    this.#bytes += bytes - entry.countedBytes;
    entry.countedBytes = bytes;
  }

  /** Subtracts a task that is deleted. */
  forget(entry: TaskEntry): void {
    if (entry.countedBytes === 0) return;
    this.#tasks -= 1;
    this.#bytes -= entry.countedBytes;
    entry.countedBytes = 0;
  }

  /** True if a limit is exceeded. */
  get isOver(): boolean {
    return this.#tasks > this.#limits.maxTasks || this.#bytes > this.#limits.maxBytes;
  }

  /** True if a new task of this size does not fit. */
  isFullFor(bytes: number): boolean {
    return this.#tasks >= this.#limits.maxTasks || this.#bytes + bytes > this.#limits.maxBytes * FOR_NEW_TASKS;
  }

  /** True if a message of this size does not fit. */
  isShortOf(bytes: number): boolean {
    return this.#bytes + bytes > this.#limits.maxBytes;
  }

  /** The error of a write that does not fit. */
  refusal(): StorageFullError {
    const { maxTasks, maxBytes } = this.#limits;
    const limits = `${maxTasks} tasks, ${Math.round(maxBytes / 1_048_576)} MiB`;
    return new StorageFullError(`The storage is full of tasks that have not ended (${limits}). Try again later.`);
  }
}
