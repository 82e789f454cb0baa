import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';
import type { CopiedKey, CopiedTask, TaskTransfer, TransferCounts } from '../task-transfer.js';
import type { FileLock } from './file-lock.js';
import { sqliteStatus } from './maintain-file.js';
import { cannotOpen, lockFile, openForReading, openForWriting } from './open-file.js';
import { copiedKeys, copiedTasks, countCopies } from './read-copies.js';
import { ReadTables } from './read-tables.js';
import { SCHEMA_VERSION } from './schema.js';
import { writeKey, writeTask } from './write-copies.js';
import { WriteTables } from './write-tables.js';

const NO_LIMITS = { eventLogBytes: Number.POSITIVE_INFINITY, logBytes: Number.POSITIVE_INFINITY };

/** A database file as source or target of a copy. Its lock excludes servers. A source is opened read-only. */
export class SqliteTransfer implements TaskTransfer {
  readonly #path: string;
  readonly #lock: FileLock;
  readonly #db: DatabaseSync;
  readonly #read: ReadTables;
  readonly #write: WriteTables | undefined;

  private constructor(path: string, lock: FileLock, role: 'source' | 'target') {
    this.#path = path;
    this.#lock = lock;
    this.#db = role === 'source' ? openForReading(path, 'thread') : openForWriting({ path, durability: 'power-loss' });
    const onAside = (row: string, reason: string) => {
      throw new StorageError(`${row} cannot be read: ${reason}`);
    };
    this.#read = new ReadTables(this.#db, onAside);
    this.#write = role === 'source' ? undefined : new WriteTables(this.#db, { limits: NO_LIMITS, onAside });
  }

  /**
   * Opens a file. A missing target is created. A source of an older version is refused, because a migration would
   * change it.
   * @throws StorageError with the path if the file cannot be used, or a server uses it.
   */
  static open(path: string, role: 'source' | 'target'): SqliteTransfer {
    if (role === 'source') {
      const { schema } = sqliteStatus(path);
      if (schema !== SCHEMA_VERSION) {
        const remedy = schema < SCHEMA_VERSION ? 'migrate a copy of it first' : 'use the version that wrote it';
        throw cannotOpen(path, new StorageError(`its schema is ${schema}, not ${SCHEMA_VERSION}: ${remedy}`));
      }
    }
    const { path: real, lock } = lockFile(path);
    try {
      return new SqliteTransfer(real, lock, role);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async counts(): Promise<TransferCounts> {
    return this.#try(() => countCopies(this.#read));
  }

  async *tasks(): AsyncGenerator<CopiedTask> {
    yield* copiedTasks(this.#read);
  }

  async *keys(): AsyncGenerator<CopiedKey> {
    yield* copiedKeys(this.#read);
  }

  async putTasks(tasks: readonly CopiedTask[]): Promise<number> {
    return this.#change((tables) => tasks.filter((task) => writeTask(tables, task)).length);
  }

  async putKeys(keys: readonly CopiedKey[]): Promise<void> {
    this.#change((tables) => {
      for (const key of keys) writeKey(tables, key);
    });
  }

  async close(): Promise<void> {
    this.#db.close();
    this.#lock.release();
  }

  #change<R>(work: (tables: WriteTables) => R): R {
    const tables = this.#write;
    if (tables === undefined) throw new TypeError('A source is not written');
    return this.#try(() => tables.transaction(() => work(tables)));
  }

  #try<R>(work: () => R): R {
    try {
      return work();
    } catch (error) {
      throw error instanceof StorageError ? error : cannotOpen(this.#path, error);
    }
  }
}
