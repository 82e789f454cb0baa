import { resolve } from 'node:path';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { OutageLog } from '../outage-log.js';
import type { FileLock } from './file-lock.js';
import { lockFile, openForReading } from './open-file.js';
import { type OpenedFiles, openedFiles } from './opened-files.js';
import { ReadTables } from './read-tables.js';
import { RestartingWorker } from './restarting-worker.js';
import { SetAside } from './set-aside.js';
import type { WorkerAnswer } from './worker-messages.js';
import type { WriteRequest } from './write-requests.js';

/** Options of a SQLite storage. */
export interface SqliteFileOptions {
  /** The database file; it and its folder are created if they are missing. Its log and its lock are files beside it. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The compiled `sqlite-worker.js`. */
  readonly worker: URL;
  /**
   * `power-loss` (default): resolved writes survive a power loss. `process`: they survive only the end of the process.
   */
  readonly durability?: 'power-loss' | 'process';
  /** Maximum bytes of the logs of finished tasks; the oldest are deleted above it. Default: 1 GiB. */
  readonly eventLogBytes?: number;
  /** `keep` if the processes that hold leases still run. Default: `void`, for a file whose only process has ended. */
  readonly leases?: 'void' | 'keep';
}

const EVENT_LOG_BYTES = 1_073_741_824;
/** Maximum bytes of the log of one open task. */
const LOG_BYTES = 268_435_456;

/** An open database file for a storage. Another process may write it. */
export interface OpenFile {
  readonly path: string;
  readonly durability: 'power-loss' | 'process';
  readonly writer: { ask(request: readonly WriteRequest[]): Promise<WorkerAnswer> };
  /** For reads that may take long. */
  readonly reader: Pick<RestartingWorker, 'ask'>;
  readonly setAside: SetAside;
  /** The tables for short reads on this thread. */
  readonly tables: ReadTables;
  /** Resolves when all requests to its threads are answered. */
  close(): Promise<void>;
}

/** A database file that only this process uses: its lock, its connections and its threads. */
export class SqliteFile implements OpenFile {
  readonly path: string;
  readonly durability: 'power-loss' | 'process';
  readonly writer: RestartingWorker;
  /** For reads that may take long; started at its first use. */
  readonly reader: RestartingWorker;
  readonly setAside: SetAside;
  readonly #lock: FileLock;
  readonly #spell: OutageLog;
  #tables: ReadTables | undefined;
  /** Absent until the file is open. */
  #files: OpenedFiles | undefined;

  private constructor(options: SqliteFileOptions, { path, lock }: { readonly path: string; readonly lock: FileLock }) {
    const {
      clock,
      logger,
      worker,
      durability = 'power-loss',
      eventLogBytes = EVENT_LOG_BYTES,
      leases = 'void',
    } = options;
    this.path = path;
    this.durability = durability;
    this.#lock = lock;
    const spell = new OutageLog({ subject: path, clock, logger });
    this.#spell = spell;
    const limits = { eventLogBytes, logBytes: Math.min(LOG_BYTES, eventLogBytes) };
    const setAside = new SetAside({ path, logger });
    this.setAside = setAside;
    const onAside = (row: string, reason: string) => setAside.add(row, reason);
    this.writer = new RestartingWorker({
      worker,
      logger,
      onAside,
      task: () => ({ role: 'writer', path, durability, files: this.#files, leases, limits }),
      onHealth: (fault) => (fault === undefined ? spell.working() : spell.failing(fault)),
    });
    this.reader = new RestartingWorker({
      worker,
      logger,
      onAside,
      task: () => ({ role: 'reader', path, files: this.#files ?? openedFiles(path) }),
    });
  }

  /**
   * Opens a file. Ends all leases in it unless the options keep them.
   * @throws StorageError with the path if the file cannot be used. The file is unchanged then.
   */
  static async open(options: SqliteFileOptions): Promise<SqliteFile> {
    const file = new SqliteFile(options, lockFile(resolve(options.path)));
    try {
      await file.writer.start();
      file.#tables = new ReadTables(openForReading(file.path, 'main'), (row, reason) => file.setAside.add(row, reason));
      file.#files = openedFiles(file.path);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  /** The tables for short reads on this thread. */
  get tables(): ReadTables {
    if (this.#tables === undefined) throw new TypeError('The file is not open');
    return this.#tables;
  }

  /** Resolves when all requests to its threads are answered and the lock is released. */
  async close(): Promise<void> {
    await this.reader.close();
    this.#tables?.close();
    // The last connection to close: it copies the log into the file and removes it.
    await this.writer.close();
    this.#spell.close();
    this.#lock.release();
  }
}
