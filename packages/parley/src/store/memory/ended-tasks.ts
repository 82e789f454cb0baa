import { LinkedList } from '../../runtime/linked-list.js';
import type { TaskEntry } from './task-entry.js';

/** Finished tasks in the order in which they ended. A task leaves at once when it is deleted. */
export class EndedTasks {
  readonly #place: 'endedPlace' | 'tailPlace';
  readonly #entries = new LinkedList<TaskEntry>();
  #latest = 0;

  /** `place` is the member of an entry that keeps its place in this list. */
  constructor(place: 'endedPlace' | 'tailPlace') {
    this.#place = place;
  }

  add(entry: TaskEntry): void {
    entry[this.#place] = this.#entries.add(entry);
    this.#latest = Math.max(this.#latest, entry.endedAt ?? 0);
  }

  remove(entry: TaskEntry): void {
    const place = entry[this.#place];
    if (place !== undefined) this.#entries.remove(place);
    entry[this.#place] = undefined;
  }

  /** No task has ended later than now: what a clock that was ahead has written is put right. */
  setClockBack(now: number): void {
    if (this.#latest <= now) return;
    for (const entry of this.#entries.values()) {
      if (entry.endedAt !== undefined && entry.endedAt > now) entry.endedAt = now;
    }
    this.#latest = now;
  }

  /** The task that ended first, if that was before `time`. */
  oldest(time: number): TaskEntry | undefined {
    const entry = this.#entries.first?.value;
    return entry?.endedAt !== undefined && entry.endedAt < time ? entry : undefined;
  }

  /** The tasks that ended before `time`, oldest first. The caller may remove each task when it comes. */
  *before(time: number): Generator<TaskEntry, void> {
    let place = this.#entries.first;
    while (place !== undefined) {
      const { value, after } = place;
      if (value?.endedAt === undefined || value.endedAt >= time) return;
      yield value;
      place = after;
    }
  }
}
