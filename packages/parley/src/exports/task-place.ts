import type { HostOptions } from '../app/options/host-options.js';
import { OptionsError } from '../errors/options-error.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { storeBackedStorage } from '../store/store-backed-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { systemClock, systemIds } from './runtime.js';

/** The options that say where tasks are, and the function that was called with them. */
export interface TaskPlaceOptions extends Pick<HostOptions, 'storage' | 'taskStore'> {
  readonly subject: string;
  /** The agent of the tasks in a task store. */
  readonly agent: string;
  readonly logger: Logger;
}

/**
 * The storage of a server: the one given, memory that writes through to a task store, or memory.
 * @throws OptionsError for two places.
 */
export function taskPlace({ subject, storage, taskStore: store, agent, logger }: TaskPlaceOptions): TaskStorage {
  if (storage !== undefined && store !== undefined) {
    throw new OptionsError(subject, ['needs either storage or taskStore, not both']);
  }
  const working = storage ?? new MemoryStorage({ clock: systemClock });
  return store === undefined
    ? working
    : storeBackedStorage({ store, working, agent, clock: systemClock, ids: systemIds, logger });
}
