import { closeSync, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StorageError } from '../../errors/storage-error.js';
import { checkMissingFolder } from './file-fault.js';
import { loadSqlite } from './load-sqlite.js';

/** If two processes start at the same time, one waits this long for the other to give up. */
const PATIENCE_MS = 250;

/**
 * Locks a database file against other processes until it is released or the process ends, even by a crash. Uses a lock
 * of the operating system on a separate file. That file also contains the process id of the holder, for the error of
 * others.
 */
export class FileLock {
  readonly #lock: DatabaseSync;

  private constructor(lock: DatabaseSync) {
    this.#lock = lock;
  }

  /**
   * Locks a file at its real path. `what`: its word in the error.
   * @throws StorageError if another server holds the lock.
   */
  static take(path: string, what: 'file' | 'directory' = 'file'): FileLock {
    const { DatabaseSync } = loadSqlite();
    makePrivate(`${path}-lock`);
    const lock = new DatabaseSync(`${path}-lock`, { timeout: PATIENCE_MS });
    try {
      lock.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
      sign(lock);
      return new FileLock(lock);
    } catch (error) {
      lock.close();
      if (/locked|busy/i.test(String(error))) {
        const message = `another server uses it${holderOf(path)}: stop that one, or name another ${what}`;
        throw new StorageError(message, { fault: 'in-use' });
      }
      throw error;
    }
  }

  release(): void {
    this.#lock.close();
  }
}

/** Writes the process id into the lock file. On a full disk the lock is held without it. */
function sign(lock: DatabaseSync): void {
  lock.exec('PRAGMA locking_mode = EXCLUSIVE;');
  try {
    lock.exec(`PRAGMA user_version = ${process.pid}; COMMIT;`);
  } catch {
    if (lock.isTransaction) lock.exec('ROLLBACK;');
    lock.exec('BEGIN EXCLUSIVE;');
  }
}

function holderOf(path: string): string {
  try {
    const { DatabaseSync } = loadSqlite();
    const lock = new DatabaseSync(`${pathToFileURL(`${path}-lock`).href}?immutable=1`, { readOnly: true });
    const row = lock.prepare('PRAGMA user_version').get() as { user_version: number };
    lock.close();
    return row.user_version > 0 ? ` (process ${row.user_version})` : '';
  } catch {
    return '';
  }
}

/**
 * Creates an empty file with mode 0600 if it is missing; an existing file keeps its mode. SQLite uses the mode of the
 * database for its `-wal` and `-shm` files.
 */
export function makePrivate(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) closeSync(openSync(path, 'a', 0o600));
}

/** Returns the path of a file with symbolic links resolved. Creates its folder if it is missing. */
export function realPath(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    // A dangling link has no real path, but SQLite would follow it.
    if (statSync(path, { throwIfNoEntry: false }) === undefined)
      return realPath(resolve(dirname(path), readlinkSync(path)));
    return realpathSync(path);
  }
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    checkMissingFolder(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  return join(realpathSync(folder), basename(path));
}
