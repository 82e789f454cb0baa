import { SqliteStorage } from '../store/sqlite/sqlite-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { systemClock } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';

export { migrateSqlite, type SqliteStatus, sqliteStatus, vacuumSqlite } from '../store/sqlite/maintain-file.js';
export { SqliteStorage } from '../store/sqlite/sqlite-storage.js';

/** Options of a SQLite storage. */
export interface OpenSqliteOptions {
  /** The database file; it and its folder are made if they are missing. */
  readonly path: string;
  /** An acknowledged write survives a power loss (default), or only the end of the process. */
  readonly durability?: 'power-loss' | 'process';
  /** Bytes of the event logs of finished tasks before the oldest are deleted. Default: 1 GiB. */
  readonly eventLogBytes?: number;
  /** Hears when the file cannot be written and when it can again. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/**
 * Opens a SQLite storage; one server process at a time can have it.
 * @throws StorageError naming the file if it cannot be used.
 */
export function openSqliteStorage({
  path,
  durability,
  eventLogBytes,
  logger = stderrLogger,
}: OpenSqliteOptions): Promise<SqliteStorage> {
  return SqliteStorage.open({
    path,
    clock: systemClock,
    logger: steadyLogger(logger),
    worker: new URL('../store/sqlite/sqlite-worker.js', import.meta.url),
    ...(durability !== undefined && { durability }),
    ...(eventLogBytes !== undefined && { eventLogBytes }),
  });
}
