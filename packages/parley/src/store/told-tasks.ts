import { StorageError } from '../errors/storage-error.js';
import { UnreadableTaskError, unreadableReason } from '../errors/unreadable-task-error.js';
import type { Logger } from '../telemetry/logger.js';
import type { TaskKey } from './task-key.js';

/** Names that a process remembers. Beyond it the log hears of a task again. */
const REMEMBERED = 10_000;

/** Tasks of a shared storage that cannot be read. The log hears of each task once in a process. */
export class ToldTasks {
  readonly #logger: Logger;
  readonly #known = new Set<string>();
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Count of the tasks that this process has told the log of. */
  get count(): number {
    return this.#count;
  }

  /** Tells the log of a task that cannot be read, once. */
  note({ scope, id }: TaskKey, error: unknown): void {
    const name = JSON.stringify([scope, id]);
    if (this.#known.has(name)) return;
    if (this.#known.size === REMEMBERED) this.#known.clear();
    this.#known.add(name);
    this.#count += 1;
    this.#logger.error('a task cannot be read and is left out', { taskId: id, reason: unreadableReason(error) });
  }

  /** Reads something of a task. Tells the log if it cannot be read: `undefined`. */
  readable<R>(key: TaskKey, read: () => R): R | undefined {
    try {
      return read();
    } catch (error) {
      // A failure of the database is none of the row.
      if (error instanceof StorageError) throw error;
      this.note(key, error);
      return undefined;
    }
  }

  /** Reads what a caller asked for by its task. Tells the log, and throws UnreadableTaskError, if it cannot be read. */
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
