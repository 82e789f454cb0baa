import { SqliteStorage } from '../store/sqlite/sqlite-storage.js';
import { type Logger, silentLogger } from '../telemetry/logger.js';
import { systemClock } from './runtime.js';

export { SqliteStorage } from '../store/sqlite/sqlite-storage.js';

/** Where to keep everything. */
export interface OpenSqliteOptions {
  /** The database file; it and its folder are made if they are missing. */
  readonly path: string;
  /** What an acknowledged write survives: the loss of power (default), or only the end of the process. */
  readonly durability?: 'power-loss' | 'process';
  readonly logger?: Logger;
}

/**
 * Opens a SQLite storage; one server process at a time can have it.
 * @throws StorageError naming the file when it cannot be used.
 */
export function openSqliteStorage({
  path,
  durability,
  logger = silentLogger,
}: OpenSqliteOptions): Promise<SqliteStorage> {
  return SqliteStorage.open({
    path,
    clock: systemClock,
    logger,
    worker: new URL('../store/sqlite/sqlite-worker.js', import.meta.url),
    ...(durability !== undefined && { durability }),
  });
}
