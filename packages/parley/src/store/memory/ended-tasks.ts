import type { TaskEntry } from './task-entry.js';

/** So many places may be empty before they are looked at. */
const EMPTY = 1_024;

/**
 * Finished tasks in the order in which they ended. A task leaves at once when it is deleted. An array costs the
 * collector far less than a linked list of a hundred thousand tasks.
 */
export class EndedTasks {
  readonly #place: 'endedPlace' | 'logPlace';
  #entries: (TaskEntry | undefined)[] = [];
  #size = 0;
  /** Places before this one are empty. */
  #first = 0;
  #latest = 0;

  /** `place` is the member of an entry that keeps its place in this order; -1 while it has none. */
  constructor(place: 'endedPlace' | 'logPlace') {
    this.#place = place;
  }

  add(entry: TaskEntry): void {
    entry[this.#place] = this.#entries.push(entry) - 1;
    this.#size += 1;
    this.#latest = Math.max(this.#latest, entry.endedAt ?? 0);
  }

  remove(entry: TaskEntry): void {
    const place = entry[this.#place];
    if (place < 0) return;
    this.#entries[place] = undefined;
    entry[this.#place] = -1;
    this.#size -= 1;
    if (this.#entries.length > EMPTY + 2 * this.#size) this.#close();
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
    const { length } = this.#entries;
    while (this.#first < length && this.#entries[this.#first] === undefined) this.#first += 1;
    const entry = this.#entries[this.#first];
    return entry?.endedAt !== undefined && entry.endedAt < time ? entry : undefined;
  }

  /** The tasks that ended before `time`, oldest first. The caller may remove each task when it comes. */
  *before(time: number): Generator<TaskEntry, void> {
    const entries = this.#entries;
    for (let place = this.#first; place < entries.length; place += 1) {
      const entry = entries[place];
      if (entry === undefined) continue;
      if (entry.endedAt === undefined || entry.endedAt >= time) return;
      yield entry;
    }
  }

  /** Moves the tasks together, into a new array. An iteration over the old one goes on undisturbed. */
  #close(): void {
    const entries = this.#entries.filter((entry) => entry !== undefined);
    for (const [place, entry] of entries.entries()) entry[this.#place] = place;
    this.#entries = entries;
    this.#first = 0;
  }
}
