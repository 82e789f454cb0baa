import type { Task } from '../../model/task.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { LogRecord } from '../../task/log-record.js';

/** Somebody who wants the records of a task as they are committed. */
export interface FeedListener {
  /**
   * Consecutive records, in order, each exactly once. `snapshot` is the task after the last one, where the commit wrote
   * one: always at an end and at an interruption.
   */
  offer(records: readonly LogRecord[], snapshot: Task | undefined): void;
  /** The task was deleted: there will be no more of it. */
  removed(): void;
  /** There will be no more from this process. */
  shutDown(): void;
  /** The task waits or has ended, but the storage does not take that in. */
  overdue?(): void;
}

/**
 * Who watches which task in this process. A task nobody watches takes no memory here. Records arrive after their
 * commit only, so nothing is shown that a crash could take back.
 */
export class TaskFeeds {
  /** Most tasks have one watcher, who then takes no set. */
  readonly #listeners = new TransientMap<string, FeedListener | Set<FeedListener>>();

  #shutDown = false;

  /** Number of tasks that are watched. */
  get size(): number {
    return this.#listeners.size;
  }

  attach(taskId: string, listener: FeedListener): void {
    if (this.#shutDown) return listener.shutDown();
    const present = this.#listeners.get(taskId);
    if (present === undefined) this.#listeners.set(taskId, listener);
    else if (present instanceof Set) present.add(listener);
    else if (present !== listener) this.#listeners.set(taskId, new Set([present, listener]));
  }

  detach(taskId: string, listener: FeedListener): void {
    const present = this.#listeners.get(taskId);
    if (present === listener) this.#listeners.delete(taskId);
    else if (present instanceof Set && present.delete(listener) && present.size === 0) this.#listeners.delete(taskId);
  }

  publish(taskId: string, records: readonly LogRecord[], snapshot: Task | undefined): void {
    const present = this.#listeners.get(taskId);
    if (present === undefined) return;
    if (present instanceof Set) for (const listener of present) listener.offer(records, snapshot);
    else present.offer(records, snapshot);
  }

  /** Tells the listeners of a task that the storage does not take in where the task stands. */
  overdue(taskId: string): void {
    const present = this.#listeners.get(taskId);
    if (present instanceof Set) for (const listener of [...present]) listener.overdue?.();
    else present?.overdue?.();
  }

  /** Sends all listeners of a deleted task away. */
  remove(taskId: string): void {
    const present = this.#listeners.get(taskId);
    this.#listeners.delete(taskId);
    if (present instanceof Set) for (const listener of present) listener.removed();
    else present?.removed();
  }

  /** Sends all listeners away, those that come later at once. */
  shutDown(): void {
    this.#shutDown = true;
    const all = this.#listeners.values();
    this.#listeners.clear();
    for (const present of all) {
      if (present instanceof Set) for (const listener of present) listener.shutDown();
      else present.shutDown();
    }
  }
}
