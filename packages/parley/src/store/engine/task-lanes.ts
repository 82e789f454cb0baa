import { TransientMap } from '../../runtime/transient-map.js';

/** Runs the calls to one task in order of arrival. Calls to other tasks do not wait. */
export class TaskLanes {
  /** The last call in progress of each task. */
  readonly #last = new TransientMap<string, Promise<unknown>>();

  /** Runs a call after all earlier calls to its task have ended. `task`: the text of its key. */
  do<R>(task: string, call: () => Promise<R>): Promise<R> {
    const before = this.#last.get(task);
    const result = before === undefined ? call() : before.then(call, call);
    this.#last.set(task, result);
    const leave = () => {
      if (this.#last.get(task) === result) this.#last.delete(task);
    };
    result.then(leave, leave);
    return result;
  }

  /** Resolves when all calls in progress have ended. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
