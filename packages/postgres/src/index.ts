import {
  type Logger,
  type MigrationResult,
  type StorageBackend,
  stderrLogger,
  steadyLogger,
  systemClock,
} from 'parley-a2a/storage-engine';
import { migrateDatabase, type PostgresStatus, postgresStatusOf } from './maintain-database.js';
import type { PostgresOptions } from './postgres-options.js';
import { PostgresStorage } from './postgres-storage.js';
import { PostgresTransfer } from './postgres-transfer.js';

export type { MigrationResult } from 'parley-a2a/storage-engine';
export type { PostgresStatus } from './maintain-database.js';
export type { PostgresOptions, PostgresTls } from './postgres-options.js';
export { PostgresStorage } from './postgres-storage.js';

/** Options of a storage in PostgreSQL. */
interface OpenPostgresOptions extends PostgresOptions {
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

const transferOf = (url: string, role: 'source' | 'target') =>
  PostgresTransfer.open({ url, clock: systemClock, logger: stderrLogger }, role);

/** PostgreSQL for `openStorage` and `copyStorage`: urls such as `postgres://user:password@host/database`. */
export const postgresBackend: StorageBackend = {
  schemes: ['postgres', 'postgresql'],
  open: (url, options) => openPostgresStorage({ ...options, url }),
  status: (url) => postgresStatus({ url }),
  migrate: (url) => migratePostgres({ url }),
  openSource: (url) => transferOf(url, 'source'),
  openTarget: (url) => transferOf(url, 'target'),
};
