import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';

/** What this room uses of Node's SQLite. */
export interface Sqlite {
  readonly DatabaseSync: typeof DatabaseSync;
}

/**
 * Node's own SQLite. It is loaded only here, when a file is opened, and without the notice that it is experimental, which
 * some releases print to the terminal of whoever runs the server.
 * @throws StorageError where the host has none.
 */
export function loadSqlite(): Sqlite {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (/sqlite/i.test(String(warning)) && rest.includes('ExperimentalWarning')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
    if (sqlite === undefined) throw new StorageError('This host has no node:sqlite');
    return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
}
