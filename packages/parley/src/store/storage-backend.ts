import type { TaskState } from '../model/task-state.js';
import type { Logger } from '../telemetry/logger.js';
import type { TaskStorage } from './task-storage.js';
import type { TransferSource, TransferTarget } from './task-transfer.js';

/** The content of a database, as far as its backend can count it. */
export interface DatabaseStatus {
  /** Address and name, without credentials. */
  readonly database: string;
  /** The version of the schema, and the newest one that the backend supports. 0: there is none yet. */
  readonly schema: number;
  readonly newestSchema: number;
  /** Bytes on disk or in memory. */
  readonly bytes: number;
  /** Tables by their bytes, the largest first. `rows` may be an estimate. */
  readonly tables?: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
  /** Tasks by state; states without any are left out. */
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
  /** Waiting and running turns. */
  readonly turns?: number;
  readonly pushConfigs?: number;
  /** Expired leases whose turns no replica has claimed yet. */
  readonly endedLeases?: number;
  /** Time since the oldest of these leases expired, in ms. Absent if there is none. */
  readonly oldestLeaseMs?: number;
}

/** The schema of a database before and after a migration. */
export interface MigrationResult {
  /** The version. 0: there was no schema. */
  readonly from: number;
  readonly to: number;
}

/**
 * A kind of database that several processes share, for `openStorage`, `copyStorage` and tools of operators. Packages
 * such as `parley-a2a-postgres` provide one.
 * All methods reject with OptionsError for an invalid url, and with StorageError if the database cannot be used.
 */
export interface StorageBackend {
  /** Schemes of its urls, such as `postgres`. */
  readonly schemes: readonly string[];
  open(url: string, options: { readonly logger?: Logger }): Promise<TaskStorage>;
  /** Reads the status of a database, even while servers use it. Changes nothing. */
  status(url: string): Promise<DatabaseStatus>;
  /** Creates or migrates the schema, as a server does at its start. Absent: only a server does. */
  migrate?(url: string): Promise<MigrationResult>;
  /** Opens a database to copy from. Absent: it can only be a target. */
  openSource?(url: string): Promise<TransferSource>;
  openTarget(url: string): Promise<TransferTarget>;
}

/** Returns the backend for a url. */
export function backendOf(url: string, backends: readonly StorageBackend[]): StorageBackend | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//.exec(url)?.[1];
  return backends.find(({ schemes }) => scheme !== undefined && schemes.includes(scheme));
}
