import { parseDatabaseUrl } from '../store/database-url.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { connectRemoteStorage, type RemoteStorage } from '../store/remote/remote-storage.js';
import { type StorageAddress, StorageServer } from '../store/remote/storage-server.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { openSqlite } from './open-sqlite.js';
import { systemClock } from './runtime.js';

export type { RemoteStorage } from '../store/remote/remote-storage.js';
export type { StorageAddress, StorageServer } from '../store/remote/storage-server.js';

/** Options of a storage process. */
interface ServeStorageOptions extends StorageAddress {
  /** `memory:` or `sqlite:`. */
  readonly url: string;
  readonly logger: Logger;
  /** `keep` if the processes that hold leases still run, and only an earlier storage process has ended. */
  readonly leases: 'void' | 'keep';
}

/**
 * Opens a storage and serves it to other processes of the machine.
 * @throws OptionsError for a wrong url, StorageError if the storage cannot be used.
 */
export async function serveStorage({ url, leases, ...options }: ServeStorageOptions): Promise<StorageServer> {
  const storage = await openOwn(url, leases, options.logger);
  return StorageServer.listen({ ...options, storage, clock: systemClock });
}

/**
 * Connects to a storage process of this machine.
 * @throws StorageError if it does not answer in time.
 */
export function connectStorage({ path, token }: StorageAddress): Promise<RemoteStorage> {
  return connectRemoteStorage({ path, token, clock: systemClock });
}

async function openOwn(url: string, leases: 'void' | 'keep', logger: Logger): Promise<TaskStorage> {
  const database = parseDatabaseUrl(url);
  if (database.backend === 'sqlite') return openSqlite({ ...database, logger }, leases);
  const { backend: _, ...limits } = database;
  return new MemoryStorage({ clock: systemClock, ...limits });
}
