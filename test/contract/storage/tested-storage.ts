import { afterEach, beforeEach } from 'vitest';
import type { Clock } from '../../../packages/parley/src/runtime/clock.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';

/** Opens an empty storage with this clock. `eventLogBytes`: the limit of the logs of finished tasks. */
export type OpenStorage = (clock: Clock, options?: { readonly eventLogBytes: number }) => Promise<TaskStorage>;

/** A wall clock that a test advances. Functions for `soon` run without that. */
export class StorageClock implements Clock {
  #time = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(_ms: number, _task: () => void): () => void {
    throw new Error('A storage sets no timers');
  }

  soon(task: () => void): void {
    setImmediate(task);
  }

  hold<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  pass(ms: number): number {
    this.#time += ms;
    return this.#time;
  }
}

/** The storage of the running test, and its clock. */
export interface Tested {
  readonly storage: TaskStorage;
  readonly clock: StorageClock;
}

/** Opens an empty storage for each test of the surrounding `describe`. */
export function useStorage(open: OpenStorage, options?: { readonly eventLogBytes: number }): Tested {
  let current: Tested | undefined;
  const now = (): Tested => {
    if (current === undefined) throw new Error('No test runs');
    return current;
  };
  beforeEach(async () => {
    const clock = new StorageClock();
    current = { clock, storage: await open(clock, options) };
  });
  afterEach(() => now().storage.close());
  return {
    get storage() {
      return now().storage;
    },
    get clock() {
      return now().clock;
    },
  };
}
