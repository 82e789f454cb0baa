import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import type { Logger } from '../telemetry/logger.js';
import { type Intercept, interceptedStorage } from './intercepted-storage.js';
import type { TaskStorage } from './task-storage.js';
import type { TaskStore } from './task-store.js';

/** The parts of a storage that writes through to a task store. */
export interface StoreBackedStorageOptions {
  readonly store: TaskStore;
  /** Runs the turns, and stores everything that a task store has no methods for. */
  readonly working: TaskStorage;
  /** The agent of tasks whose metadata names none. */
  readonly agent: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/**
 * A storage that writes its tasks through to a task store. At the first call it loads the tasks of the store, and ends
 * those that had not ended. Events, waiting messages, push configurations and retention exist only in the working
 * storage: the store keeps all tasks. A task store has no scopes: a task whose id another scope uses is not created.
 */
export function storeBackedStorage(options: StoreBackedStorageOptions): TaskStorage {
  // Loaded on demand, because most servers have no task store.
  const tasks = new LoadedOnDemand(async () => {
    const { StoreBackedTasks } = await import('./store-backed-tasks.js');
    return new StoreBackedTasks(options);
  });
  const intercept: Intercept = async (call, args, run) => (await tasks.get()).answer(call, args, run);
  return interceptedStorage(options.working, intercept, { durability: 'process' });
}
