import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';

/** Somebody who wants the records of a task as they are committed. */
export interface FeedListener {
  /**
   * Consecutive records, in order, each exactly once. `snapshot` is the task after the last one, where the commit wrote
   * one: always at an end and at an interruption.
   */
  offer(records: readonly LogRecord[], snapshot: Task | undefined): void;
  /** There will be no more from this process. */
  shutDown(): void;
}

/**
 * Who watches which task in this process. A task nobody watches takes no memory here. Records arrive after their
 * commit only, so nothing is shown that a crash could take back.
 */
export class TaskFeeds {
  readonly #listeners = new Map<string, Set<FeedListener>>();

  /** Number of tasks that are watched. */
  get size(): number {
    return this.#listeners.size;
  }

  attach(taskId: string, listener: FeedListener): void {
    const listeners = this.#listeners.get(taskId);
    if (listeners) listeners.add(listener);
    else this.#listeners.set(taskId, new Set([listener]));
  }

  detach(taskId: string, listener: FeedListener): void {
    const listeners = this.#listeners.get(taskId);
    if (listeners?.delete(listener) && listeners.size === 0) this.#listeners.delete(taskId);
  }

  publish(taskId: string, records: readonly LogRecord[], snapshot: Task | undefined): void {
    const listeners = this.#listeners.get(taskId);
    if (!listeners) return;
    for (const listener of listeners) listener.offer(records, snapshot);
  }

  /** Sends everybody away. */
  shutDown(): void {
    const all = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listeners of all) for (const listener of listeners) listener.shutDown();
  }
}
