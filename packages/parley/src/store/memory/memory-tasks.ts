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
import { type MemoryLimits, MemoryRoom } from './memory-room.js';
import type { MemorySpace, MemorySpaces } from './memory-space.js';
import { TaskEntry } from './task-entry.js';

/** The tasks of all scopes, and the orders in which they grow old. */
export class MemoryTasks implements FinishedTasks {
  readonly #spaces: MemorySpaces;
  readonly #ended = new EndedTasks('endedPlace');
  readonly #logs: EventLogs;
  readonly #room: MemoryRoom;
  readonly #deliveries: MemoryDeliveries;
  /** Tasks that wait for their caller, those that have waited longest first. */
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
   * Puts a task there with the record that shows it; the id is free. Finished tasks make room for it, oldest first.
   * @throws StorageFullError when none of those that are left has ended.
   */
  insert(space: MemorySpace, task: Task, now: number): TaskEntry {
    const { tasks } = space;
    const entry = new TaskEntry(space, { task, record: new LogRecord(1, 0, { task }), now });
    // First of all: a space without a task goes with the last task that is dropped.
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
   * Makes room for a message to a task.
   * @throws StorageFullError when no task that is left has ended.
   */
  makeRoomFor(message: Message): void {
    const bytes = messageBytes(message);
    while (this.#room.isShortOf(bytes)) this.#dropOldest();
  }

  /** Takes note of what was written to a task. Finished tasks make room, but never this one. */
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

  /** Takes note of a new status in every order that depends on it. */
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

  /** Tasks that have waited for their caller since before a time, without a waiting message. */
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
