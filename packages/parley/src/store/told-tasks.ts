import { StorageError } from '../errors/storage-error.js';
import { UnreadableTaskError, unreadableReason } from '../errors/unreadable-task-error.js';
import type { Logger } from '../telemetry/logger.js';
import type { TaskKey } from './task-key.js';

/** Maximum number of logged tasks that a process remembers. Above it, a task may be logged again. */
const REMEMBERED = 10_000;

/** Unreadable tasks of a shared storage. Each task is logged once per process. */
export class ToldTasks {
  readonly #logger: Logger;
  readonly #known = new Set<string>();
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Number of unreadable tasks that this process has logged. */
  get count(): number {
    return this.#count;
  }

  /** Logs an unreadable task, once. */
  note({ scope, id }: TaskKey, error: unknown): void {
    const name = JSON.stringify([scope, id]);
    if (this.#known.has(name)) return;
    if (this.#known.size === REMEMBERED) this.#known.clear();
    this.#known.add(name);
    this.#count += 1;
    this.#logger.error('a task cannot be read and is left out', { taskId: id, reason: unreadableReason(error) });
  }

  /** Reads data of a task. Logs the task and returns `undefined` if the data cannot be read. */
  readable<R>(key: TaskKey, read: () => R): R | undefined {
    try {
      return read();
    } catch (error) {
      // A failure of the database does not mean that the row is unreadable.
      if (error instanceof StorageError) throw error;
      this.note(key, error);
      return undefined;
    }
  }

  /**
   * Reads data of a task that a caller asked for. Logs the task and throws UnreadableTaskError if the data cannot be
   * read.
   */
  required<R>(key: TaskKey, read: () => R): R {
    try {
      return read();
    } catch (error) {
      if (error instanceof StorageError) throw error;
      this.note(key, error);
      throw new UnreadableTaskError(key.id, error);
    }
  }
}
