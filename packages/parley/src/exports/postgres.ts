import { migrateDatabase, type PostgresStatus, postgresStatusOf } from '../store/postgres/maintain-database.js';
import type { MigrationResult } from '../store/postgres/migrate.js';
import type { PostgresOptions } from '../store/postgres/postgres-options.js';
import { PostgresStorage } from '../store/postgres/postgres-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { systemClock } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';

export type { PostgresStatus } from '../store/postgres/maintain-database.js';
export type { MigrationResult } from '../store/postgres/migrate.js';
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
  return PostgresStorage.open({ ...options, logger: steadyLogger(logger), clock: systemClock });
}

/**
 * Looks at a database, also while servers use it. Changes nothing.
 * @throws OptionsError, or StorageError if the server cannot be used.
 */
export function postgresStatus({ logger = stderrLogger, ...options }: OpenPostgresOptions): Promise<PostgresStatus> {
  return postgresStatusOf({ ...options, logger, clock: systemClock });
}

/**
 * Makes or migrates the tables of a database, as a server does when it starts.
 * @throws OptionsError, or StorageError if the server cannot be used, or if a newer version has changed the schema.
 */
export function migratePostgres({ logger = stderrLogger, ...options }: OpenPostgresOptions): Promise<MigrationResult> {
  return migrateDatabase({ ...options, logger, clock: systemClock });
}
