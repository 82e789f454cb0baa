import { type TaskKey, taskKeyText } from '../task-key.js';
import { ToldTasks } from '../told-tasks.js';

/** Reads data of a task. Returns undefined, and logs the task, if the data cannot be read. */
export type ReadRow = <R>(key: TaskKey, read: () => R) => R | undefined;

/** Tasks whose rows cannot be read. Claims skip their turns until the storage is opened again. */
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
