import type { Logger } from '../telemetry/logger.js';
import type { TaskKey } from './task-storage.js';

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
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger.error('a task cannot be read and is left out', { task: id, reason });
  }
}
