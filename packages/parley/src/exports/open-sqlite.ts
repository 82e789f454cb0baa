import type { SqliteFileOptions } from '../store/sqlite/sqlite-file.js';
import { SqliteStorage } from '../store/sqlite/sqlite-storage.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { systemClock } from './runtime.js';
import type { OpenSqliteOptions } from './sqlite.js';
import { stderrLogger } from './stderr-logger.js';

/** The thread of a file. */
export const SQLITE_WORKER = new URL('../store/sqlite/sqlite-worker.js', import.meta.url);

/** Opens a SQLite storage. */
export function openSqlite(options: OpenSqliteOptions): Promise<SqliteStorage> {
  return SqliteStorage.open(openSqliteOptions(options, 'void'));
}

/** Options of a file. `leases`: `keep` if the processes that hold them still run. */
export function openSqliteOptions(
  { path, durability, eventLogBytes, logger = stderrLogger }: OpenSqliteOptions,
  leases: 'void' | 'keep',
): SqliteFileOptions {
  return {
    path,
    clock: systemClock,
    logger: steadyLogger(logger),
    worker: SQLITE_WORKER,
    leases,
    ...(durability !== undefined && { durability }),
    ...(eventLogBytes !== undefined && { eventLogBytes }),
  };
}
