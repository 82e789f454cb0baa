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
  /** Logs the start and the end of outages of the server. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/**
 * Opens a storage in PostgreSQL, for any number of processes. Creates or migrates its tables.
 * @throws OptionsError, or StorageError if the server cannot be used or does not provide the guarantees of the options.
 */
export function openPostgresStorage({
  logger = stderrLogger,
  ...options
}: OpenPostgresOptions): Promise<PostgresStorage> {
  return PostgresStorage.open({ ...options, logger: steadyLogger(logger), clock: systemClock });
}

/**
 * Reads the status of a database, even while servers use it. Changes nothing.
 * @throws OptionsError, or StorageError if the server cannot be used.
 */
export function postgresStatus({ logger = stderrLogger, ...options }: OpenPostgresOptions): Promise<PostgresStatus> {
  return postgresStatusOf({ ...options, logger, clock: systemClock });
}

/**
 * Creates or migrates the tables of a database, as a server does at its start.
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
