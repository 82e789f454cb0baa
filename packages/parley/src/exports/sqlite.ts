import { checkOptions } from '../options/check-options.js';
import { nonEmpty, type OptionSchemas, optionObject, positive, withMethod } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { SqliteStorage } from '../store/sqlite/sqlite-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { openSqlite } from './open-sqlite.js';

export { migrateSqlite, type SqliteStatus, sqliteStatus, vacuumSqlite } from '../store/sqlite/maintain-file.js';
export { SqliteStorage } from '../store/sqlite/sqlite-storage.js';

/** Options of a SQLite storage. */
export interface OpenSqliteOptions {
  /** The database file; it and its folder are made if they are missing. */
  readonly path: string;
  /** `power-loss` (default): an acknowledged write survives a power loss. `process`: only the end of the process. */
  readonly durability?: 'power-loss' | 'process';
  /** Maximum bytes of the event logs of finished tasks. Beyond it, the oldest are deleted. Default: 1 GiB. */
  readonly eventLogBytes?: number;
  /** Logs when the file becomes unwritable, and writable again. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

const schemas: OptionSchemas<OpenSqliteOptions> = {
  path: nonEmpty,
  durability: Type.Optional(Type.String({ enum: ['power-loss', 'process'] })),
  eventLogBytes: Type.Optional(positive),
  logger: Type.Optional(withMethod('error')),
};

/**
 * Opens a SQLite storage; one server process at a time can have it.
 * @throws OptionsError naming every option that is wrong. StorageError naming the file if it cannot be used.
 */
export async function openSqliteStorage(options: OpenSqliteOptions): Promise<SqliteStorage> {
  return openSqlite(checkOptions({ subject: 'openSqliteStorage', schema: optionObject(schemas), options }));
}
