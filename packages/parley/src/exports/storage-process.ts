import { parseDatabaseUrl } from '../store/database-url.js';
import type { FileOwner } from '../store/file-owner.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { connectRemoteStorage, type RemoteStorage } from '../store/remote/remote-storage.js';
import { type StorageAddress, StorageServer } from '../store/remote/storage-server.js';
import { SharedSqlite } from '../store/sqlite/shared-sqlite.js';
import { openServedSqlite } from '../store/sqlite/sqlite-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { openSqliteOptions, SQLITE_WORKER } from './open-sqlite.js';
import { systemClock } from './runtime.js';

export type { StorageAddress, StorageServer } from '../store/remote/storage-server.js';

/** Options of a storage process. */
interface ServeStorageOptions extends StorageAddress {
  /** `memory:` or `sqlite:`. */
  readonly url: string;
  readonly logger: Logger;
  /**
   * The number of processes that connect, if an earlier storage process of theirs has ended. Leases of those that are
   * connected stay. Absent if no lease is valid any more.
   */
  readonly processes?: number;
}

/** Options of a process that uses a storage process. */
interface ConnectStorageOptions extends StorageAddress {
  readonly logger: Logger;
}

/**
 * Opens a storage and serves it to other processes of the machine.
 * @throws OptionsError for a wrong url, StorageError if the storage cannot be used.
 */
export async function serveStorage({ url, ...options }: ServeStorageOptions): Promise<StorageServer> {
  const { logger, processes } = options;
  const database = parseDatabaseUrl(url);
  const served = { ...options, clock: systemClock };
  if (database.backend === 'sqlite') {
    const file = openSqliteOptions({ ...database, logger }, processes === undefined ? 'void' : 'keep');
    return StorageServer.listen({ ...served, ...(await openServedSqlite(file)) });
  }
  const { backend: _, ...limits } = database;
  return StorageServer.listen({ ...served, storage: new MemoryStorage({ clock: systemClock, ...limits }) });
}

/**
 * Connects to a storage process of this machine.
 * @throws StorageError if it does not answer in time.
 */
export function connectStorage({ path, token, logger }: ConnectStorageOptions): Promise<TaskStorage> {
  const openFile = (owner: FileOwner, remote: RemoteStorage) =>
    new SharedSqlite({ owner, remote, clock: systemClock, logger, worker: SQLITE_WORKER });
  return connectRemoteStorage({ path, token, clock: systemClock, openFile });
}
