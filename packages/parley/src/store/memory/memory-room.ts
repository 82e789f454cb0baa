import { StorageFullError } from '../../errors/storage-full-error.js';
import type { TaskEntry } from './task-entry.js';

/** The limits of a storage in memory. */
export interface MemoryLimits {
  readonly maxTasks: number;
  readonly maxBytes: number;
}

/** The rest is reserved for open tasks: otherwise a task full of waiting messages could not end. */
const FOR_NEW_TASKS = 0.9;

/** Counts the tasks of a storage in memory, and their approximate bytes. */
export class MemoryRoom {
  readonly #limits: MemoryLimits;
  #tasks = 0;
  #bytes = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Updates the size of a new or changed task. */
  note(entry: TaskEntry): void {
    if (entry.countedBytes === 0) this.#tasks += 1;
    const bytes = entry.content.bytes(entry);
    this.#bytes += bytes - entry.countedBytes;
    entry.countedBytes = bytes;
  }

  /** Subtracts a task that is deleted. */
  forget(entry: TaskEntry): void {
    if (entry.countedBytes === 0) return;
    this.#tasks -= 1;
    this.#bytes -= entry.countedBytes;
    entry.countedBytes = 0;
  }

  /** True if a limit is exceeded. */
  get isOver(): boolean {
    return this.#tasks > this.#limits.maxTasks || this.#bytes > this.#limits.maxBytes;
  }

  /** True if a new task of this size does not fit. */
  isFullFor(bytes: number): boolean {
    return this.#tasks >= this.#limits.maxTasks || this.#bytes + bytes > this.#limits.maxBytes * FOR_NEW_TASKS;
  }

  /** True if a message of this size does not fit. */
  isShortOf(bytes: number): boolean {
    return this.#bytes + bytes > this.#limits.maxBytes;
  }

  /** The error of a write that does not fit. */
  refusal(): StorageFullError {
    const { maxTasks, maxBytes } = this.#limits;
    const limits = `${maxTasks} tasks, ${Math.round(maxBytes / 1_048_576)} MiB`;
    return new StorageFullError(`The storage is full of tasks that have not ended (${limits}). Try again later.`);
  }
}
