import type { EqualTimers } from '../../runtime/equal-timers.js';
import { interceptedStorage, type StorageCall } from '../../store/intercepted-storage.js';
import type { TaskStorage } from '../../store/task-storage.js';
import { storageStalledError } from './unavailable-errors.js';

const READS: ReadonlySet<StorageCall> = new Set(['task', 'tasks', 'records', 'abandoned', 'keys.recall']);
const CONFIGURATIONS: ReadonlySet<StorageCall> = new Set([
  'push.putConfig',
  'push.deleteConfig',
  'push.config',
  'push.configs',
]);

/**
 * A shared storage whose reads have a bound: callers hear UNAVAILABLE when the network between process and storage
 * hangs. A storage in this process is returned as it is.
 */
export function withBoundedReads(storage: TaskStorage, patience: EqualTimers): TaskStorage {
  return storage.shared ? withBounds(storage, READS, patience) : storage;
}

/** A storage whose push configurations have the same bound, for writing too. */
export function withBoundedConfigurations(storage: TaskStorage, patience: EqualTimers): TaskStorage {
  return withBounds(storage, CONFIGURATIONS, patience);
}

function withBounds(storage: TaskStorage, calls: ReadonlySet<StorageCall>, patience: EqualTimers): TaskStorage {
  return interceptedStorage(storage, (call, _args, run) =>
    calls.has(call) ? bounded(run() as Promise<unknown>, patience) : run(),
  );
}

function bounded<T>(read: Promise<T>, patience: EqualTimers): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = patience.start(() => reject(storageStalledError()));
    const over = () => patience.stop(timer);
    read.then(resolve, reject).then(over, over);
  });
}
