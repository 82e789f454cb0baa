import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';

/** The part of Node's SQLite that this room uses. */
interface Sqlite {
  readonly DatabaseSync: typeof DatabaseSync;
}

/** True if the host has SQLite. */
export function hasSqlite(): boolean {
  try {
    loadSqlite();
    return true;
  } catch {
    return false;
  }
}

/**
 * Node's own SQLite. Loaded when a file is opened. Without the notice that it is experimental, which some releases
 * print to the terminal.
 * @throws StorageError if the host has none.
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
