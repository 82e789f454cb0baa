import { SqliteStorage } from '../store/sqlite/sqlite-storage.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { systemClock } from './runtime.js';
import type { OpenSqliteOptions } from './sqlite.js';
import { stderrLogger } from './stderr-logger.js';

/**
 * Opens a SQLite storage. `leases`: `keep` if the processes that hold leases still run. Default: `void`, which ends all
 * leases.
 */
export function openSqlite(
  { path, durability, eventLogBytes, logger = stderrLogger }: OpenSqliteOptions,
  leases?: 'void' | 'keep',
): Promise<SqliteStorage> {
  return SqliteStorage.open({
    path,
    clock: systemClock,
    logger: steadyLogger(logger),
    worker: new URL('../store/sqlite/sqlite-worker.js', import.meta.url),
    ...(durability !== undefined && { durability }),
    ...(eventLogBytes !== undefined && { eventLogBytes }),
    ...(leases !== undefined && { leases }),
  });
}
