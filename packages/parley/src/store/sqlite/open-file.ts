import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';
import { checkFile, fileFault } from './file-fault.js';
import { FileLock, makePrivate, realPath } from './file-lock.js';
import { loadSqlite } from './load-sqlite.js';
import { prepareSchema } from './schema.js';

/** Time that a thread waits for a lock of another process on the file. */
const BUSY_MS = 1_000;
/**
 * The same for the main thread, which must not block for long. Readers of SQLite wait only while a log is being
 * recovered.
 */
const BUSY_ON_MAIN_MS = 100;

/** The options of a writer for its file. */
export interface FileOptions {
  readonly path: string;
  readonly durability: 'power-loss' | 'process';
}

/**
 * Creates the folder of a file if it is missing, and locks the file. `path`: the real path of the file.
 * @throws StorageError with the path and the remedy. The file is unchanged then.
 */
export function lockFile(path: string): { readonly path: string; readonly lock: FileLock } {
  try {
    const real = realPath(path);
    checkFile(real);
    return { path: real, lock: FileLock.take(real) };
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/**
 * Opens a file for writing and creates it if it is missing. The caller holds the lock.
 * @throws StorageError with the path and the remedy. The file is unchanged then.
 */
export function openForWriting({ path, durability }: FileOptions): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    const { DatabaseSync } = loadSqlite();
    makePrivate(path);
    db = new DatabaseSync(path, { timeout: BUSY_MS });
    prepareSchema(db);
    configure(db, durability);
    return db;
  } catch (error) {
    db?.close();
    throw cannotOpen(path, error);
  }
}

/**
 * Opens a file for reading while another connection writes it.
 * @throws StorageError with the path.
 */
export function openForReading(path: string, on: 'main' | 'thread'): DatabaseSync {
  try {
    const { DatabaseSync } = loadSqlite();
    const db = new DatabaseSync(path, { readOnly: true, timeout: on === 'main' ? BUSY_ON_MAIN_MS : BUSY_MS });
    db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2000;');
    return db;
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

function configure(db: DatabaseSync, durability: FileOptions['durability']): void {
  const mode = db.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string };
  if (mode.journal_mode !== 'wal') throw new StorageError('its file system has no shared memory for a write-ahead log');
  db.exec(`PRAGMA synchronous = ${durability === 'process' ? 'NORMAL' : 'FULL'}`);
  // A longer log is checkpointed less often: its hottest pages are copied once instead of many times.
  db.exec('PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;');
  db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000;');
}

/** Returns the error of an unusable file, with path, cause and remedy. */
export function cannotOpen(path: string, error: unknown): StorageError {
  return new StorageError(`Cannot use ${path} as storage: ${fileFault(path, error).text}`, { cause: error });
}
