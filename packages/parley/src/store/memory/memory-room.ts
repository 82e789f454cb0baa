import { StorageFullError } from '../../errors/storage-full-error.js';
import type { TaskEntry } from './task-entry.js';

/** The limits of a storage in memory. */
export interface MemoryLimits {
  readonly maxTasks: number;
  readonly maxBytes: number;
}

/** The rest is for tasks that go on: without it a task that is full of waiting messages could not end. */
const FOR_NEW_TASKS = 0.9;

/** Counts the tasks of a storage in memory and about how many bytes they take. */
export class MemoryRoom {
  readonly #limits: MemoryLimits;
  #tasks = 0;
  #bytes = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Takes note of a task that is new or has changed. */
  note(entry: TaskEntry): void {
    if (entry.countedBytes === 0) this.#tasks += 1;
    const { bytes } = entry.content;
    this.#bytes += bytes - entry.countedBytes;
    entry.countedBytes = bytes;
  }

  /** Takes note of a task that leaves. */
  forget(entry: TaskEntry): void {
    if (entry.countedBytes === 0) return;
    this.#tasks -= 1;
    this.#bytes -= entry.countedBytes;
    entry.countedBytes = 0;
  }

  /** True if something has to go. */
  get isOver(): boolean {
    return this.#tasks > this.#limits.maxTasks || this.#bytes > this.#limits.maxBytes;
  }

  /** True if one more task of this size needs others to go. */
  isFullFor(bytes: number): boolean {
    return this.#tasks >= this.#limits.maxTasks || this.#bytes + bytes > this.#limits.maxBytes * FOR_NEW_TASKS;
  }

  /** True if a message of this size fits beside what is there. */
  isShortOf(bytes: number): boolean {
    return this.#bytes + bytes > this.#limits.maxBytes;
  }

  /** The refusal of what finds no room. */
  refusal(): StorageFullError {
    const { maxTasks, maxBytes } = this.#limits;
    const limits = `${maxTasks} tasks, ${Math.round(maxBytes / 1_048_576)} MiB`;
    return new StorageFullError(`The storage is full of tasks that have not ended (${limits}). Try again later.`);
  }
}
