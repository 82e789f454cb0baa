import type { TaskState } from '../../model/task-state.js';
import { olderStatus } from './list-order.js';
import { SortedList } from './sorted-list.js';
import type { TaskEntry } from './task-entry.js';

/** The tasks of one context. Most contexts have a single task, which is stored without a list. */
export class ContextTasks {
  #only: TaskEntry | undefined;
  #all: SortedList<TaskEntry> | undefined;
  #counts: Map<TaskState, number> | undefined;

  add(entry: TaskEntry): void {
    if (this.#all === undefined && this.#only === undefined) {
      this.#only = entry;
      return;
    }
    this.#all ??= new SortedList(olderStatus);
    this.#counts ??= new Map();
    if (this.#only !== undefined) {
      this.#all.add(this.#only);
      this.#count(this.#only, 1);
      this.#only = undefined;
    }
    this.#all.add(entry);
    this.#count(entry, 1);
  }

  remove(entry: TaskEntry): void {
    if (this.#only === entry) this.#only = undefined;
    else if (this.#all?.remove(entry)) this.#count(entry, -1);
  }

  get size(): number {
    return this.#all?.size ?? (this.#only === undefined ? 0 : 1);
  }

  /** Number of tasks in a state. */
  in(state: TaskState): number {
    if (this.#only !== undefined) return this.#only.listedState === state ? 1 : 0;
    return this.#counts?.get(state) ?? 0;
  }

  /** Tasks with the newest status first, from the first one for which `before` is true. */
  descending(before: (entry: TaskEntry) => boolean): Iterable<TaskEntry> {
    if (this.#all !== undefined) return this.#all.descending(before);
    return this.#only !== undefined && before(this.#only) ? [this.#only] : [];
  }

  #count(entry: TaskEntry, by: 1 | -1): void {
    if (entry.listedState === undefined) return;
    this.#counts?.set(entry.listedState, (this.#counts.get(entry.listedState) ?? 0) + by);
  }
}
