import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../../errors/storage-error.js';
import { unreadableReason } from '../../errors/unreadable-task-error.js';
import { LostFileError } from './opened-files.js';

/** A damaged row was found: the transaction must restart without it. Never leaves the writer. */
export class DamagedRowError extends Error {
  override readonly name = 'DamagedRowError';
}

/** An error of the file or the disk. */
interface FileFault {
  /** The cause and the remedy. */
  readonly text: string;
  /** True for a state of the disk or the file that may end. No call caused it. */
  readonly passing: boolean;
}

const FULL = 'there is no space left on its disk: make room';
/** SQLite cannot create even its smallest file with less free space than this, in bytes. */
const TIGHT = 65_536;
const READ_ONLY = 'it is on a file system that is read-only: mount that for writing, or name a file elsewhere';
const DENIED = 'this user may not write it: change its owner or its permissions';
const FOLDER_DENIED =
  'this user may not make files in its folder, where the log of the database belongs: change the owner or the permissions of the folder';
const DAMAGED = 'it is damaged: put a copy back in its place, or save what `sqlite3 FILE .recover` still finds';

const LOCKED = 'another process holds a lock on it: end its transaction, such as that of a backup or of a SQLite shell';

const BUSY = 5;
const IO_ERROR = 10;
const CORRUPT = 11;
const NO_ROOM = 13;

/** By SQLite's primary result codes. */
const FAULTS: ReadonlyMap<number, FileFault> = new Map([
  [3, { text: DENIED, passing: true }],
  [BUSY, { text: LOCKED, passing: true }],
  [8, { text: 'it cannot be written: it, its folder or its disk has become read-only', passing: true }],
  [IO_ERROR, { text: 'its disk fails or does not answer: look into the log of the system', passing: true }],
  [CORRUPT, { text: DAMAGED, passing: false }],
  [NO_ROOM, { text: FULL, passing: true }],
  [14, { text: 'its files cannot be opened any more: look whether its folder is still there', passing: true }],
  [26, { text: 'it is no SQLite database, or its beginning is damaged: put a copy back in its place', passing: false }],
]);

const NO_FOLDER = 'a part of its path is a file, not a folder: name another place';

const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  ENOTDIR: NO_FOLDER,
  EEXIST: NO_FOLDER,
  ELOOP: 'its path is a symbolic link that leads to itself',
  ENOSPC: FULL,
  EROFS: READ_ONLY,
  EACCES: DENIED,
  EPERM: DENIED,
};

/** Describes an error of the file for operators. */
export function fileFault(path: string, error: unknown): FileFault {
  if (error instanceof LostFileError) return { text: error.message, passing: true };
  if (!(error instanceof Error) || error instanceof SyntaxError)
    return { text: unreadableReason(error), passing: false };
  const primary = primaryCode(error);
  // On a full disk, writes to the log or the index of the log fail with a general I/O error.
  const known = FAULTS.get(primary === IO_ERROR && isFull(path) ? NO_ROOM : (primary ?? 0));
  if (known !== undefined) return { ...known, text: `${known.text} (${error.message})` };
  const system = SYSTEM_FAULTS[String((error as { readonly code?: unknown }).code)];
  return { text: system ?? error.message, passing: system !== undefined };
}

/** True if an error means a damaged row, and not a fault of the disk, the whole file or a lock. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DamagedRowError) return false;
  const primary = primaryCode(error);
  return primary === undefined || primary === CORRUPT;
}

/** True if another process holds a lock on the file. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && primaryCode(error) === BUSY;
}

/** Returns SQLite's primary result code of an error. */
function primaryCode(error: Error): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < TIGHT;
  } catch {
    return false;
  }
}

/**
 * Checks a file for problems that SQLite would only report as "cannot open".
 * @throws StorageError with the cause.
 */
export function checkFile(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isDirectory()) throw new StorageError('it is a folder: name a file');
  if (file !== undefined && !file.isFile()) throw new StorageError('it is no ordinary file');
  // SQLite derives the name of the log from the name of the file: through another hard link it would miss the log.
  if (file !== undefined && file.nlink > 1) {
    throw new StorageError('it has several names (hard links), under which several servers could open it: copy it');
  }
  if (file !== undefined) checkAccess(path, DENIED);
  checkAccess(dirname(path), FOLDER_DENIED);
}

/**
 * Checks that a missing folder can be created, to report the cause if not.
 * @throws StorageError with the cause.
 */
export function checkMissingFolder(folder: string): void {
  const above = dirname(folder);
  if (above === folder) return;
  if (statSync(above, { throwIfNoEntry: false }) === undefined) checkMissingFolder(above);
  else
    checkAccess(above, `its folder is missing, and this user may not make ${folder}: make it, or let this user do so`);
}

function checkAccess(path: string, denied: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    throw new StorageError(code === 'EROFS' ? READ_ONLY : denied, { cause: error });
  }
}
