import type { EqualTimers } from '../../runtime/equal-timers.js';
import { interceptedStorage, type StorageCall } from '../../store/intercepted-storage.js';
import type { TaskStorage } from '../../store/task-storage.js';
import { storageStalledError } from './unavailable-errors.js';

const READS: ReadonlySet<StorageCall> = new Set(['task', 'tasks', 'records', 'abandoned', 'keys.recall']);

/**
 * A shared storage whose reads have a bound: callers hear UNAVAILABLE when the network between process and storage
 * hangs. A storage in this process is returned as it is.
 */
export function withBoundedReads(storage: TaskStorage, patience: EqualTimers): TaskStorage {
  if (!storage.shared) return storage;
  return interceptedStorage(storage, (call, _args, run) =>
    READS.has(call) ? bounded(run() as Promise<unknown>, patience) : run(),
  );
}

function bounded<T>(read: Promise<T>, patience: EqualTimers): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = patience.start(() => reject(storageStalledError()));
    const over = () => patience.stop(timer);
    read.then(resolve, reject).then(over, over);
  });
}
