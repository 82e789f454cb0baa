import { resolve } from 'node:path';
import type { SqliteFileOptions } from '../store/sqlite/sqlite-file.js';
import { SqliteStorage } from '../store/sqlite/sqlite-storage.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { systemClock } from './runtime.js';
import { servedDatabases } from './served-database.js';
import type { OpenSqliteOptions } from './sqlite.js';
import { stderrLogger } from './stderr-logger.js';
import { workerProcess } from './worker-process.js';

/** The thread of a file. */
export const SQLITE_WORKER = new URL('../store/sqlite/sqlite-worker.js', import.meta.url);

/** Opens a SQLite storage. A worker has a file of the storage process through that process. */
export async function openSqlite(options: OpenSqliteOptions): Promise<SqliteStorage> {
  const { logger: _, ...database } = options;
  const path = resolve(options.path);
  const { storage } = workerProcess;
  if (storage instanceof SqliteStorage && workerProcess.path === path) return storage;
  const opened = await SqliteStorage.open(openSqliteOptions(options, 'void'));
  servedDatabases.set(opened, { backend: 'sqlite', ...database, path });
  return opened;
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
