import type { FinishedLog } from '../engine/sweep.js';
import { EndedTasks } from './ended-tasks.js';
import { hasPendingDelivery } from './memory-deliveries.js';
import { PackedTask } from './task-content.js';
import type { TaskEntry } from './task-entry.js';

/** The logs of finished tasks. When they take too much memory together, the oldest go before their time. */
export class EventLogs {
  readonly #limit: number;
  readonly #onDrop: (entry: TaskEntry) => void;
  readonly #tasks = new EndedTasks('logPlace');
  #bytes = 0;

  /** `onDrop` is called for a task that has lost records. */
  constructor(limit: number, onDrop: (entry: TaskEntry) => void) {
    this.#limit = limit;
    this.#onDrop = onDrop;
  }

  /** Takes note of a task that has ended. */
  add(entry: TaskEntry): void {
    this.#tasks.add(entry);
    this.#bytes += bytesOf(entry);
    while (this.#bytes > this.#limit) {
      const oldest = this.#tasks.oldest(Number.POSITIVE_INFINITY);
      if (oldest === undefined) return;
      this.#forget(oldest, Number.POSITIVE_INFINITY);
    }
  }

  /** Takes note of a task that is about to be deleted. */
  remove(entry: TaskEntry): void {
    this.#tasks.remove(entry);
    this.#bytes -= bytesOf(entry);
  }

  /** The logs of tasks that ended before a time, those that ended first before the others. */
  *before(time: number): Generator<FinishedLog, void> {
    for (const entry of this.#tasks.before(time)) {
      const { endedAt = 0 } = entry;
      yield { endedAt, isPending: hasPendingDelivery(entry), drop: (limit) => this.#forget(entry, limit) };
    }
  }

  #forget(entry: TaskEntry, limit: number): number {
    const { content } = entry;
    const count = Math.min(limit, content.recordCount);
    const before = bytesOf(entry);
    if (content instanceof PackedTask) content.forget(count);
    this.#bytes -= before - bytesOf(entry);
    this.#onDrop(entry);
    if (content.recordCount === 0) this.#tasks.remove(entry);
    return count;
  }
}

function bytesOf({ content }: TaskEntry): number {
  return content instanceof PackedTask ? content.eventLogBytes : 0;
}
