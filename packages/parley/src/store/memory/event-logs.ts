import type { FinishedLog } from '../engine/sweep.js';
import { EndedTasks } from './ended-tasks.js';
import { hasPendingDelivery } from './memory-deliveries.js';
import { PackedTask } from './task-content.js';
import type { TaskEntry } from './task-entry.js';

/** Number of records after which tasks are packed together, so that the garbage collector visits few objects. */
const RECENT_RECORDS = 48;
/** Tasks are packed earlier if they exceed this share of the limit. */
const RECENT_SHARE = 1 / 512;

/**
 * The logs of finished tasks. The most recent ones stay unpacked, because callers often read a task just after its end.
 * The others are packed. Over the limit of bytes, the oldest logs are dropped.
 */
export class EventLogs {
  readonly #limit: number;
  readonly #onResize: (entry: TaskEntry) => void;
  /** The most recently finished tasks, which are not packed yet. */
  #recent: TaskEntry[] = [];
  #recentBytes = 0;
  #recentRecords = 0;
  readonly #packed = new EndedTasks('logPlace');
  #bytes = 0;

  /** `onResize` is called with each task whose size has changed. */
  constructor(limit: number, onResize: (entry: TaskEntry) => void) {
    this.#limit = limit;
    this.#onResize = onResize;
  }

  /** Adds a task that has ended. */
  add(entry: TaskEntry): void {
    this.#recent.push(entry);
    this.#recentBytes += entry.content.bytes;
    this.#recentRecords += entry.content.recordCount;
    if (this.#recentRecords >= RECENT_RECORDS || this.#recentBytes > this.#limit * RECENT_SHARE) this.#pack();
  }

  /** Removes a task that will be deleted. */
  remove(entry: TaskEntry): void {
    if (this.#recent.includes(entry)) this.#pack();
    this.#packed.remove(entry);
    this.#bytes -= bytesOf(entry);
  }

  /** The logs of tasks that ended before a time, oldest first. */
  *before(time: number): Generator<FinishedLog, void> {
    this.#pack();
    for (const entry of this.#packed.before(time)) {
      const { endedAt = 0 } = entry;
      yield { endedAt, isPending: hasPendingDelivery(entry), drop: (limit) => this.#forget(entry, limit) };
    }
  }

  #pack(): void {
    for (const entry of this.#recent) {
      entry.pack();
      this.#onResize(entry);
      this.#packed.add(entry);
      this.#bytes += bytesOf(entry);
    }
    this.#recent = [];
    this.#recentBytes = 0;
    this.#recentRecords = 0;
    while (this.#bytes > this.#limit) {
      const oldest = this.#packed.oldest(Number.POSITIVE_INFINITY);
      if (oldest === undefined) return;
      this.#forget(oldest, Number.POSITIVE_INFINITY);
    }
  }

  #forget(entry: TaskEntry, limit: number): number {
    const { content } = entry;
    const count = Math.min(limit, content.recordCount);
    const before = bytesOf(entry);
    if (content instanceof PackedTask) content.forget(count);
    this.#bytes -= before - bytesOf(entry);
    this.#onResize(entry);
    if (content.recordCount === 0) this.#packed.remove(entry);
    return count;
  }
}

function bytesOf({ content }: TaskEntry): number {
  return content instanceof PackedTask ? content.eventLogBytes : 0;
}
