import { StorageError } from '../../errors/storage-error.js';
import type { EqualTimers } from '../../runtime/equal-timers.js';
import { interceptedStorage, type StorageCall } from '../../store/intercepted-storage.js';
import type { Acceptance, AcceptOutcome, TaskStorage } from '../../store/task-storage.js';
import { storageStalledError } from './unavailable-errors.js';

const READS: ReadonlySet<StorageCall> = new Set(['task', 'tasks', 'records', 'abandoned', 'keys.recall']);
const CONFIGURATIONS: ReadonlySet<StorageCall> = new Set([
  'push.putConfig',
  'push.deleteConfig',
  'push.config',
  'push.configs',
]);

/**
 * A shared storage for an engine. Its reads have a time limit: callers get UNAVAILABLE if the network to the storage
 * hangs. An acceptance is repeated once if its answer is lost. A storage in this process is returned unchanged.
 */
export function steadyStorage(storage: TaskStorage, patience: EqualTimers): TaskStorage {
  if (!storage.shared) return storage;
  return interceptedStorage(storage, (call, args, run) => {
    if (call === 'accept') return acceptedSurely(storage, args[0] as Acceptance);
    return READS.has(call) ? boundTime(run() as Promise<unknown>, patience) : run();
  });
}

/** A storage whose push configurations have the same time limit, for reads and writes. */
export function withBoundedConfigurations(storage: TaskStorage, patience: EqualTimers): TaskStorage {
  return interceptedStorage(storage, (call, _args, run) =>
    CONFIGURATIONS.has(call) ? boundTime(run() as Promise<unknown>, patience) : run(),
  );
}

/** The second call gets the same answer as the first. */
async function acceptedSurely(storage: TaskStorage, acceptance: Acceptance): Promise<AcceptOutcome> {
  try {
    return await storage.accept(acceptance);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return storage.accept({ ...acceptance, again: true });
  }
}

function boundTime<T>(read: Promise<T>, patience: EqualTimers): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = patience.start(() => reject(storageStalledError()));
    const over = () => patience.stop(timer);
    read.then(resolve, reject).then(over, over);
  });
}
