import type { FinishedLog } from '../engine/sweep.js';
import { hasPendingDelivery } from './memory-deliveries.js';
import type { MemoryRoom } from './memory-room.js';
import { PackedTasks } from './packed-tasks.js';
import { LiveTask } from './task-content.js';
import type { TaskEntry } from './task-entry.js';

/** Number of records after which tasks are packed together, so that the garbage collector visits few objects. */
const RECENT_RECORDS = 48;
/** Tasks are packed earlier if they exceed this share of the limit of logs. */
const RECENT_SHARE = 1 / 512;

/**
 * Finished tasks in order of their end. The most recent ones stay unpacked, because callers often read a task just
 * after its end. The others are packed in groups.
 */
export class EndedTasks {
  /** Bytes that all logs may take. Above it, the oldest are dropped. */
  readonly #maxLogBytes: number;
  readonly #room: MemoryRoom;
  /** The most recent tasks, which are not packed yet. */
  #recent: TaskEntry[] = [];
  #recentBytes = 0;
  #recentRecords = 0;
  readonly #groups: PackedTasks<TaskEntry>[] = [];
  /** No group before this one has a log. */
  #firstLog = 0;
  #logBytes = 0;
  /** The latest end of a task. */
  #latest = 0;

  constructor(maxLogBytes: number, room: MemoryRoom) {
    this.#maxLogBytes = maxLogBytes;
    this.#room = room;
  }

  /** Adds a task that has ended. */
  add(entry: TaskEntry): void {
    const { content } = entry;
    this.#latest = Math.max(this.#latest, entry.endedAt ?? 0);
    this.#recent.push(entry);
    this.#recentBytes += content.bytes(entry);
    this.#recentRecords += content.recordCount(entry);
    const isFull = this.#recentRecords >= RECENT_RECORDS || this.#recentBytes > this.#maxLogBytes * RECENT_SHARE;
    if (isFull) this.#pack();
  }

  /** Removes a task, if it has ended. */
  remove(entry: TaskEntry): void {
    const { content } = entry;
    if (content instanceof LiveTask) {
      this.#recent = this.#recent.filter((recent) => recent !== entry);
      return;
    }
    this.#logBytes -= content.logBytes(entry);
    if (!content.remove(entry)) return;
    const at = this.#groups.indexOf(content);
    this.#groups.splice(at, 1);
    if (at < this.#firstLog) this.#firstLog -= 1;
  }

  /** The task that ended first, if it ended before `time`. */
  oldest(time: number): TaskEntry | undefined {
    const entry = this.#groups[0]?.owners.find((kept) => kept !== undefined) ?? this.#recent[0];
    return (entry?.endedAt ?? time) < time ? entry : undefined;
  }

  /** Corrects end times that are later than now, after a clock was ahead. */
  setClockBack(now: number): void {
    if (this.#latest <= now) return;
    this.#pack();
    for (const { owners } of this.#groups) {
      for (const owner of owners) if (owner !== undefined) owner.endedAt = Math.min(owner.endedAt ?? 0, now);
    }
    this.#latest = now;
  }

  /** The logs of tasks that ended before a time, oldest first. */
  *logs(endedBefore: number): Generator<FinishedLog, void> {
    this.#pack();
    for (const entry of this.#logged()) {
      const { endedAt = 0 } = entry;
      if (endedAt >= endedBefore) return;
      yield { endedAt, isPending: hasPendingDelivery(entry), drop: (limit) => this.#dropRecords(entry, limit) };
    }
  }

  /** Removes the bytes of removed tasks from memory. */
  scrub(): void {
    for (const group of this.#groups) group.scrub();
  }

  #pack(): void {
    if (this.#recent.length === 0) return;
    const group = new PackedTasks(this.#recent);
    this.#groups.push(group);
    for (const [place, entry] of this.#recent.entries()) {
      entry.pack(group, place);
      this.#logBytes += group.logBytes(entry);
      this.#room.note(entry);
    }
    this.#recent = [];
    this.#recentBytes = 0;
    this.#recentRecords = 0;
    for (const entry of this.#logged()) {
      if (this.#logBytes <= this.#maxLogBytes) return;
      this.#dropRecords(entry, Number.POSITIVE_INFINITY);
    }
  }

  /** The packed tasks with records, in order of their end. */
  *#logged(): Generator<TaskEntry, void> {
    for (let at = this.#firstLog; at < this.#groups.length; at += 1) {
      let hasLog = false;
      for (const entry of this.#groups[at]?.owners ?? []) {
        if (entry === undefined || entry.content.recordCount(entry) === 0) continue;
        hasLog = true;
        yield entry;
      }
      if (!hasLog && at === this.#firstLog) this.#firstLog += 1;
    }
  }

  /** Drops the oldest records of a packed task, at most `limit`. Returns their number. */
  #dropRecords(entry: TaskEntry, limit: number): number {
    const { content } = entry;
    if (content instanceof LiveTask) return 0;
    const before = content.logBytes(entry);
    const dropped = content.dropRecords(entry, limit);
    this.#logBytes -= before - content.logBytes(entry);
    this.#room.note(entry);
    return dropped;
  }
}
