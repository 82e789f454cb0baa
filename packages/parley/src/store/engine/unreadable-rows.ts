import { type TaskKey, taskKeyText } from '../task-key.js';
import { ToldTasks } from '../told-tasks.js';

/** Reads something of a task. Undefined if it cannot be read, and the log hears of the task. */
export type ReadRow = <R>(key: TaskKey, read: () => R) => R | undefined;

/** Tasks whose rows cannot be read. No claim takes their turns until the storage is opened again. */
export class UnreadableRows extends ToldTasks {
  readonly #aside = new Set<string>();

  setAside(key: TaskKey, error: unknown): void {
    this.#aside.add(taskKeyText(key));
    this.note(key, error);
  }

  isAside(key: TaskKey): boolean {
    return this.#aside.size > 0 && this.#aside.has(taskKeyText(key));
  }
}
