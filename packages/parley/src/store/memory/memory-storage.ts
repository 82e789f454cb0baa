import { refuseArgument } from '../../options/refuse-argument.js';
import type { Clock } from '../../runtime/clock.js';
import { LocalStorage } from '../engine/local-storage.js';
import type { LocalHead, LocalTables } from '../engine/local-tables.js';
import { type KeyHead, REMEMBERED_BYTES, REMEMBERED_LIMIT } from '../rules/key-head.js';
import { type ConfigEntry, MemoryDeliveries } from './memory-deliveries.js';
import { MemoryOwners } from './memory-owners.js';
import { MemorySpaces } from './memory-space.js';
import { MemoryTasks } from './memory-tasks.js';
import { type RememberedKey, RememberedKeys } from './remembered-keys.js';
import type { TaskEntry } from './task-entry.js';

/** The options of a storage in memory. */
export interface MemoryStorageOptions {
  readonly clock: Clock;
  /** Bytes that the logs of finished tasks may take before the oldest are dropped. Default: 64 MiB. */
  readonly eventLogBytes?: number;
  /**
   * Maximum number of tasks. Above it, finished tasks are evicted, oldest first; if no task has ended, new ones are
   * refused. Default: 100,000.
   */
  readonly maxTasks?: number;
  /** Approximate maximum of memory for all tasks and their logs, in bytes. Default: 256 MiB. */
  readonly maxBytes?: number;
}

const EVENT_LOG_BYTES = 67_108_864;
const MAX_TASKS = 100_000;
const MAX_BYTES = 268_435_456;

/** Stores everything in the memory of this process. It stores the given objects without copies. */
export class MemoryStorage extends LocalStorage<LocalHead, KeyHead, unknown> {
  constructor(options: MemoryStorageOptions) {
    if (Object(Object(options).clock).now === undefined)
      refuseArgument('MemoryStorage', '{ clock: systemClock }', options);
    const { clock, ...limits } = options;
    super(memoryTables(limits), clock);
  }
}

function memoryTables({
  eventLogBytes = EVENT_LOG_BYTES,
  maxTasks = MAX_TASKS,
  maxBytes = MAX_BYTES,
}: Omit<MemoryStorageOptions, 'clock'>): LocalTables<TaskEntry, RememberedKey, ConfigEntry> {
  const spaces = new MemorySpaces();
  const queues = new MemoryDeliveries();
  const tasks = new MemoryTasks(spaces, { eventLogBytes, maxTasks, maxBytes, deliveries: queues });
  const keys = new RememberedKeys({ spaces, limits: { keys: REMEMBERED_LIMIT, bytes: REMEMBERED_BYTES } });
  const owners = new MemoryOwners({ spaces, keys, tasks });
  // No call fails after its first write.
  const transaction = <R>(work: () => R) => work();
  return { durability: 'none', tasks, keys, queues, owners, finished: tasks, transaction, close: () => {} };
}
