import type { Task } from '../model/task.js';
import type { LogRecord } from '../task/log-record.js';
import type { Append, TaskKey } from './task-storage.js';

/** Hears of what is written outside of any turn, once it is committed: updates, ends and deletions. */
export interface WriteWatcher {
  /** `snapshot`: the task after the last record, if the write had one. */
  written(key: TaskKey, records: readonly LogRecord[], snapshot: Task | undefined): void;
  deleted(key: TaskKey): void;
}

/** The watchers of a storage in this process. */
export class WriteWatchers {
  readonly #watchers = new Set<WriteWatcher>();

  /** Returns the function that ends it. */
  add(watcher: WriteWatcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** The writer of a turn tells its own watchers: only appends from outside count here. */
  appended({ key, authority, records, snapshot }: Append): void {
    if (typeof authority === 'number') return;
    for (const watcher of this.#watchers) watcher.written(key, records, snapshot);
  }

  deleted(key: TaskKey): void {
    for (const watcher of this.#watchers) watcher.deleted(key);
  }
}
