import type { TaskState } from '../model/task-state.js';
import type { Logger } from '../telemetry/logger.js';
import type { TaskStorage } from './task-storage.js';
import type { TransferSource, TransferTarget } from './task-transfer.js';

/** The content of a database, as far as its backend counts it. */
export interface DatabaseStatus {
  /** Place and name, without credentials. */
  readonly database: string;
  /** The version of the schema, and the newest one that the backend knows. 0: there is none yet. */
  readonly schema: number;
  readonly newestSchema: number;
  /** Bytes that it takes on disk or in memory. */
  readonly bytes: number;
  /** Tables by their bytes, the largest first. `rows` may be an estimate. */
  readonly tables?: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
  /** Tasks by state; states without any are left out. */
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
  /** Turns that run or wait. */
  readonly turns?: number;
  readonly pushConfigs?: number;
  /** Leases that have ended, whose turns no replica has taken over yet. */
  readonly endedLeases?: number;
  /** Time since the end of the oldest one, in ms. Absent if there is none. */
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
 * such as `parley-a2a-postgres` have one.
 * All methods reject with OptionsError for a url that they cannot read, and with StorageError if the database cannot be
 * used.
 */
export interface StorageBackend {
  /** Schemes of its urls, such as `postgres`. */
  readonly schemes: readonly string[];
  open(url: string, options: { readonly logger?: Logger }): Promise<TaskStorage>;
  /** Looks at a database, also while servers use it. Changes nothing. */
  status(url: string): Promise<DatabaseStatus>;
  /** Makes or migrates the schema, as a server does when it starts. Absent: only a server does. */
  migrate?(url: string): Promise<MigrationResult>;
  /** Opens a database to copy from. Absent: it can only be a target. */
  openSource?(url: string): Promise<TransferSource>;
  openTarget(url: string): Promise<TransferTarget>;
}

/** The backend of a url. */
export function backendOf(url: string, backends: readonly StorageBackend[]): StorageBackend | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//.exec(url)?.[1];
  return backends.find(({ schemes }) => scheme !== undefined && schemes.includes(scheme));
}
