import type { TaskEntry } from './task-entry.js';

/** Finished tasks in the order in which they ended, taken from the front. */
export class EndedTasks {
  #entries: TaskEntry[] = [];
  #first = 0;

  add(entry: TaskEntry): void {
    this.#entries.push(entry);
  }

  /** The task that ended first, if that was before `time`. */
  oldest(time: number): TaskEntry | undefined {
    while (this.#entries[this.#first]?.deleted === true) this.#first += 1;
    const entry = this.#entries[this.#first];
    return entry?.endedAt !== undefined && entry.endedAt < time ? entry : undefined;
  }

  /** Drops the one that `oldest` gave. */
  shift(): void {
    this.#first += 1;
    if (this.#first < 1024 || this.#first * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }
}
