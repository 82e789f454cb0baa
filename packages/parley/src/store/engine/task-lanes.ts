import { TransientMap } from '../../runtime/transient-map.js';
import type { TaskKey } from '../task-key.js';
import { taskKeyText } from '../task-key.js';

/** Runs the calls to one task in order of arrival. Calls to other tasks do not wait. */
export class TaskLanes {
  /** The last call in progress of each task. */
  readonly #last = new TransientMap<string, Promise<unknown>>();

  /** Runs a call after all earlier calls to its task have ended. */
  do<R>(key: TaskKey, call: () => Promise<R>): Promise<R> {
    const text = taskKeyText(key);
    const before = this.#last.get(text);
    const result = before === undefined ? call() : before.then(call, call);
    this.#last.set(text, result);
    const leave = () => {
      if (this.#last.get(text) === result) this.#last.delete(text);
    };
    result.then(leave, leave);
    return result;
  }

  /** Resolves when all calls in progress have ended. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
