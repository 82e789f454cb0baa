import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';
import { loadSqlite } from './load-sqlite.js';
import { prepareSchema } from './schema.js';

/** What a writer says of its file. */
export interface FileOptions {
  readonly path: string;
  readonly durability: 'power-loss' | 'process';
}

/** The one connection that writes, and the lock that keeps other processes out. */
export interface OpenFile {
  readonly db: DatabaseSync;
  close(): void;
}

/**
 * Opens a file for writing, makes it and its folder if they are missing, and locks it until `close` or the end of the process.
 * @throws StorageError naming the file when that is not possible; the file is as it was then.
 */
export function openForWriting({ path, durability }: FileOptions): OpenFile {
  try {
    const { DatabaseSync } = loadSqlite();
    mkdirSync(dirname(path), { recursive: true });
    const lock = new DatabaseSync(`${path}-lock`);
    let db: DatabaseSync | undefined;
    try {
      holdLock(lock);
      db = new DatabaseSync(path);
      prepareSchema(db);
      configure(db, durability);
      return { db, close: () => closeAll(db, lock) };
    } catch (error) {
      closeAll(db, lock);
      throw error;
    }
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/**
 * Opens a file for reading beside its writer.
 * @throws StorageError naming the file when that is not possible.
 */
export function openForReading(path: string): DatabaseSync {
  try {
    const { DatabaseSync } = loadSqlite();
    const db = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
    db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2000;');
    return db;
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/** A lock of the operating system on a file of its own: it vanishes with the process, however that ends. */
function holdLock(lock: DatabaseSync): void {
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    if (/locked|busy/i.test(String(error))) throw new StorageError('another server uses it');
    throw error;
  }
}

function configure(db: DatabaseSync, durability: FileOptions['durability']): void {
  const mode = db.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string };
  if (mode.journal_mode !== 'wal') throw new StorageError('its file system has no shared memory for a write-ahead log');
  db.exec(`PRAGMA synchronous = ${durability === 'process' ? 'NORMAL' : 'FULL'}`);
  // A longer log is copied back less often: its hottest pages once instead of many times.
  db.exec('PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;');
  db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000;');
}

function closeAll(...databases: readonly (DatabaseSync | undefined)[]): void {
  for (const db of databases) db?.close();
}

function cannotOpen(path: string, error: unknown): StorageError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageError(`Cannot use ${path} as storage: ${reason}`, { cause: error });
}
