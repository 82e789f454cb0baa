import type { PostgresOptions } from '../store/postgres/postgres-options.js';
import { PostgresStorage } from '../store/postgres/postgres-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { systemClock } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';

export type { PostgresOptions, PostgresTls } from '../store/postgres/postgres-options.js';
export { PostgresStorage } from '../store/postgres/postgres-storage.js';

/** Options of a storage in PostgreSQL. */
export interface OpenPostgresOptions extends PostgresOptions {
  /** Hears when the server cannot be used and when it can again. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/**
 * Opens a storage in PostgreSQL, for any number of processes. Makes or migrates its tables.
 * @throws OptionsError, or StorageError if the server cannot be used or does not keep what the options promise.
 */
export function openPostgresStorage({
  logger = stderrLogger,
  ...options
}: OpenPostgresOptions): Promise<PostgresStorage> {
  return PostgresStorage.open({ ...options, logger, clock: systemClock });
}
