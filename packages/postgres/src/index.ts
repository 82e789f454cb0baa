import {
  type Logger,
  type MigrationResult,
  type StorageBackend,
  stderrLogger,
  steadyLogger,
  systemClock,
} from 'parley-a2a/storage-engine';
import type { PostgresStatus } from './maintain-database.js';
import type { PostgresOptions } from './postgres-options.js';
import type { PostgresStorage } from './postgres-storage.js';

// The driver loads with the first use: a program may name backends that it does not open.

export type { MigrationResult } from 'parley-a2a/storage-engine';
export type { PostgresStatus } from './maintain-database.js';
export type { PostgresOptions, PostgresTls } from './postgres-options.js';
export type { PostgresStorage } from './postgres-storage.js';

/** Options of a storage in PostgreSQL. */
interface OpenPostgresOptions extends PostgresOptions {
  /** Logs the start and the end of outages of the server. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/**
 * Opens a storage in PostgreSQL, for any number of processes. Creates or migrates its tables.
 * @throws OptionsError, or StorageError if the server cannot be used or does not provide the guarantees of the options.
 */
export async function openPostgresStorage({
  logger = stderrLogger,
  ...options
}: OpenPostgresOptions): Promise<PostgresStorage> {
  const { PostgresStorage } = await import('./postgres-storage.js');
  return PostgresStorage.open({ ...options, logger: steadyLogger(logger), clock: systemClock });
}

/**
 * Reads the status of a database, even while servers use it. Changes nothing.
 * @throws OptionsError, or StorageError if the server cannot be used.
 */
export async function postgresStatus({
  logger = stderrLogger,
  ...options
}: OpenPostgresOptions): Promise<PostgresStatus> {
  const { postgresStatusOf } = await import('./maintain-database.js');
  return postgresStatusOf({ ...options, logger, clock: systemClock });
}

/**
 * Creates or migrates the tables of a database, as a server does at its start.
 * @throws OptionsError, or StorageError if the server cannot be used, or if a newer version has changed the schema.
 */
export async function migratePostgres({
  logger = stderrLogger,
  ...options
}: OpenPostgresOptions): Promise<MigrationResult> {
  const { migrateDatabase } = await import('./maintain-database.js');
  return migrateDatabase({ ...options, logger, clock: systemClock });
}

async function transferOf(url: string, role: 'source' | 'target') {
  const { PostgresTransfer } = await import('./postgres-transfer.js');
  return PostgresTransfer.open({ url, clock: systemClock, logger: stderrLogger }, role);
}

/** PostgreSQL for `openStorage` and `copyStorage`: urls such as `postgres://user:password@host/database`. */
export const postgresBackend: StorageBackend = {
  schemes: ['postgres', 'postgresql'],
  open: (url, options) => openPostgresStorage({ ...options, url }),
  status: (url) => postgresStatus({ url }),
  migrate: (url) => migratePostgres({ url }),
  openSource: (url) => transferOf(url, 'source'),
  openTarget: (url) => transferOf(url, 'target'),
};
