import type { Logger } from '../telemetry/logger.js';
import type { TaskKey } from './task-storage.js';

/** Tasks of a shared storage that cannot be read. The log hears of each task once in a process. */
export class ToldTasks {
  readonly #logger: Logger;
  readonly #known = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Count of the tasks that this process has found. */
  get count(): number {
    return this.#known.size;
  }

  /** Tells the log of a task that cannot be read, once. */
  note({ scope, id }: TaskKey, error: unknown): void {
    const name = JSON.stringify([scope, id]);
    if (this.#known.has(name)) return;
    this.#known.add(name);
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger.error('a task cannot be read and is left out', { task: id, reason });
  }
}
