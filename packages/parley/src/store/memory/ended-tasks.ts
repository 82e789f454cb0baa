import type { TaskEntry } from './task-entry.js';

/** Finished tasks in the order in which they ended, taken from the front. */
export class EndedTasks {
  #entries: (TaskEntry | undefined)[] = [];
  #first = 0;
  #latest = 0;

  add(entry: TaskEntry): void {
    this.#entries.push(entry);
    this.#latest = Math.max(this.#latest, entry.endedAt ?? 0);
  }

  /** No task has ended later than now: what a clock that was ahead has written is put right. */
  setClockBack(now: number): void {
    if (this.#latest <= now) return;
    for (const entry of this.#entries) {
      if (entry?.endedAt !== undefined && entry.endedAt > now) entry.endedAt = now;
    }
    this.#latest = now;
  }

  /** The task that ended first, if that was before `time`. */
  oldest(time: number): TaskEntry | undefined {
    let entry = this.#entries[this.#first];
    while (entry?.deleted === true) {
      this.shift();
      entry = this.#entries[this.#first];
    }
    return entry?.endedAt !== undefined && entry.endedAt < time ? entry : undefined;
  }

  /** Drops the one that `oldest` gave. */
  shift(): void {
    this.#entries[this.#first] = undefined;
    this.#first += 1;
    if (this.#first < 1024 || this.#first * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }
}
