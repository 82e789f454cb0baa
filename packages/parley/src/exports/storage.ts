import { refuseArgument } from '../options/refuse-argument.js';
import type { CopiedCounts } from '../store/copy-tasks.js';
import { parseDatabaseUrl } from '../store/database-url.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { ScopedTasks } from '../store/scoped-tasks.js';
import { backendOf, type StorageBackend } from '../store/storage-backend.js';
import type { Scope } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import type { ErasedCounts, EraseOwnerOptions } from '../user-data/erase-owner.js';
import type { OwnerCounts, OwnerDataOptions } from '../user-data/owner-data.js';
import type { CopyStorageOptions } from './copy-storage.js';
import { systemClock, systemIds } from './runtime.js';
import { servedDatabases } from './served-database.js';

export { OptionsError } from '../errors/options-error.js';
export { StorageError } from '../errors/storage-error.js';
export { TaskStoreError, type TaskStoreRefusal } from '../errors/task-store-error.js';
export type { CallerContext, CallerUser } from '../store/caller-context.js';
export type { CopiedCounts } from '../store/copy-tasks.js';
export type {
  CancelRequest,
  Claim,
  ClaimRequest,
  Claims,
  HeldTurn,
  Holding,
  Lease,
  ReleaseHow,
  Renewal,
} from '../store/held-turn.js';
export type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../store/idempotency-keys.js';
export { MemoryStorage, type MemoryStorageOptions } from '../store/memory/memory-storage.js';
export type { OwnerQuery } from '../store/owner-query.js';
export type {
  ErasedRows,
  ListedScope,
  OwnedKey,
  OwnedKeyPage,
  OwnedTask,
  OwnedTaskPage,
  OwnedTaskRange,
  OwnerStorage,
  ScopeRange,
} from '../store/owner-storage.js';
export type {
  ConfigChange,
  ConfigPut,
  ConfigRange,
  DeliveryClaim,
  DeliveryClaimRequest,
  DeliveryClaims,
  DeliveryKey,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  DeliveryQueue,
  HeldDelivery,
  PlacedPushConfig,
  PushStorage,
  StoredPushConfig,
} from '../store/push-storage.js';
export type { RateAsk, RateCounters, RateGrant } from '../store/rate-counters.js';
export { type ResealedCounts, type ResealOptions, resealConfigs } from '../store/reseal-configs.js';
export {
  type NewTask,
  ScopedTasks,
  type ScopedTasksOptions,
  type TaskChange,
  type TaskFilter,
  type TaskList,
} from '../store/scoped-tasks.js';
export type { DatabaseStatus, MigrationResult, StorageBackend } from '../store/storage-backend.js';
export type { Scope, TaskKey } from '../store/task-key.js';
export type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  CancelOutcome,
  NodeBeat,
  RecordPage,
  Retention,
  StorageLoad,
  StorageNode,
  StoredTask,
  Swept,
  TaskPage,
  TaskProgress,
  TaskQuery,
  TaskStorage,
} from '../store/task-storage.js';
export type { TaskStore, TaskStoreFilter } from '../store/task-store.js';
export type { TransferCounts } from '../store/task-transfer.js';
export type { WakeupListener, Wakeups } from '../store/wakeups.js';
export { LogRecord, type LogRecordExtras } from '../task/log-record.js';
export { type StatusAndMetadata, TaskBuilder } from '../task/task-builder.js';
export type { TaskExtent } from '../task/trim-task.js';
export type { ErasedCounts, EraseOwnerOptions } from '../user-data/erase-owner.js';
export type { OwnerCounts, OwnerDataOptions } from '../user-data/owner-data.js';
export type { CopyStorageOptions } from './copy-storage.js';

/** Options of `openStorage`. */
interface OpenStorageOptions {
  /** Logs faults. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
  /** Backends of further urls, such as `postgresBackend` of `parley-a2a-postgres`. */
  readonly backends?: readonly StorageBackend[];
}

/**
 * Opens the storage that a database url names: `memory:`, `memory:?tasks=1000&bytes=67108864`, `sqlite:path`,
 * `sqlite:path?durability=process`, or a url of one of the backends.
 * @throws OptionsError for any other url, StorageError if the storage cannot be used.
 */
export async function openStorage(
  url: string,
  { backends = [], ...options }: OpenStorageOptions = {},
): Promise<TaskStorage> {
  if (typeof url !== 'string') refuseArgument('openStorage', 'a url, such as sqlite:./data/parley.db', url);
  const backend = backendOf(url, backends);
  if (backend !== undefined) return backend.open(url, options);
  const database = parseDatabaseUrl(url);
  if (database.backend === 'memory') {
    const { backend: _, ...limits } = database;
    const storage = new MemoryStorage({ clock: systemClock, ...limits });
    servedDatabases.set(storage, database);
    return storage;
  }
  const { openSqliteStorage } = await import('./sqlite.js');
  return openSqliteStorage({ ...options, path: database.path, durability: database.durability });
}

/** Copies the tasks of one database into another one. See `CopyStorageOptions`. */
export async function copyStorage(options: CopyStorageOptions): Promise<CopiedCounts> {
  const { from, to } = Object(options) as CopyStorageOptions;
  if (typeof from !== 'string' || typeof to !== 'string')
    refuseArgument('copyStorage', 'two database urls as { from, to }', options);
  const { copyStorage: copy } = await import('./copy-storage.js');
  return copy(options);
}

/**
 * Erases all data of a user in a storage and a file store, even while servers use a shared storage. See `eraseOwner` of
 * `A2AHost` for a server with its own storage.
 * @throws StorageError if something cannot be erased. A repeated call erases the rest.
 */
export async function eraseOwner(options: Omit<EraseOwnerOptions, 'clock' | 'ids'>): Promise<ErasedCounts> {
  const { checkOwnerOptions } = await import('./owner-options.js');
  checkOwnerOptions('eraseOwner', options);
  const { eraseOwner: erase } = await import('../user-data/erase-owner.js');
  return erase({ ...options, clock: systemClock, ids: systemIds });
}

/** Counts what `eraseOwner` would erase. Changes nothing. */
export async function countOwner(options: Omit<OwnerDataOptions, 'clock' | 'ids' | 'audit'>): Promise<OwnerCounts> {
  const { checkOwnerOptions } = await import('./owner-options.js');
  checkOwnerOptions('countOwner', options);
  const { countOwner: count } = await import('../user-data/owner-data.js');
  return count({ ...options, clock: systemClock, ids: systemIds });
}

/** A storage, and the scope of its tasks. Default: the tasks of anonymous callers at the agent under `/`. */
export interface TaskAccess extends Partial<Scope> {
  readonly storage: TaskStorage;
}

/** The tasks of one scope, for code of the application. */
export function scopedTasks(access: TaskAccess): ScopedTasks {
  if (Object(Object(access).storage).accept === undefined) refuseArgument('scopedTasks', '{ storage }', access);
  const { storage, agent = '/', tenant = '', owner = null } = access;
  return new ScopedTasks({ storage, scope: { agent, tenant, owner }, clock: systemClock, ids: systemIds });
}
