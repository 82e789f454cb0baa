import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';

/** The part of `node:sqlite` that this folder uses. */
interface Sqlite {
  readonly DatabaseSync: typeof DatabaseSync;
}

/** True if the runtime has `node:sqlite`. */
export function hasSqlite(): boolean {
  try {
    loadSqlite();
    return true;
  } catch {
    return false;
  }
}

/**
 * Loads `node:sqlite`, without the warning of some releases that it is experimental. Called when a file is opened.
 * @throws StorageError if the runtime does not have it.
 */
export function loadSqlite(): Sqlite {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (/sqlite/i.test(String(warning)) && rest.includes('ExperimentalWarning')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
    if (sqlite === undefined) throw new StorageError('this host has no node:sqlite, which Node.js has from 22.19 on');
    return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
}
