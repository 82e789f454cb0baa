import type { TaskEntry } from './task-entry.js';

/** Number of empty places before the array is compacted. */
const EMPTY = 1_024;

/**
 * Finished tasks in order of their end. A deleted task is removed at once. With 100,000 tasks, an array costs the
 * garbage collector far less than a linked list.
 */
export class EndedTasks {
  readonly #place: 'endedPlace' | 'logPlace';
  #entries: (TaskEntry | undefined)[] = [];
  #size = 0;
  /** All places before this one are empty. */
  #first = 0;
  #latest = 0;

  /** `place`: the property of an entry with its place in this list; -1 if it is not in the list. */
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

  /** Corrects end times that are later than now, after a clock was ahead. */
  setClockBack(now: number): void {
    if (this.#latest <= now) return;
    for (const entry of this.#entries) {
      if (entry?.endedAt !== undefined && entry.endedAt > now) entry.endedAt = now;
    }
    this.#latest = now;
  }

  /** The task that ended first, if it ended before `time`. */
  oldest(time: number): TaskEntry | undefined {
    const { length } = this.#entries;
    while (this.#first < length && this.#entries[this.#first] === undefined) this.#first += 1;
    const entry = this.#entries[this.#first];
    return entry?.endedAt !== undefined && entry.endedAt < time ? entry : undefined;
  }

  /** The tasks that ended before `time`, oldest first. The caller may remove the current task. */
  *before(time: number): Generator<TaskEntry, void> {
    const entries = this.#entries;
    for (let place = this.#first; place < entries.length; place += 1) {
      const entry = entries[place];
      if (entry === undefined) continue;
      if (entry.endedAt === undefined || entry.endedAt >= time) return;
      yield entry;
    }
  }

  /** Copies the tasks into a new array without empty places. Iterations over the old array continue. */
  #close(): void {
    const entries = this.#entries.filter((entry) => entry !== undefined);
    for (const [place, entry] of entries.entries()) entry[this.#place] = place;
    this.#entries = entries;
    this.#first = 0;
  }
}
