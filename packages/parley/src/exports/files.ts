import { join, resolve } from 'node:path';
import { type FileTransferOptions, filesExtension } from '../app/files/files-extension.js';
import type { HostExtension } from '../app/host-extension.js';
import { StorageError } from '../errors/storage-error.js';
import { DirectoryFileStore, type DirectoryLock } from '../files/directory/directory-file-store.js';
import type { FileStore } from '../files/file-store.js';
import { MemoryFileStore } from '../files/memory/memory-file-store.js';
import { checkOptions } from '../options/check-options.js';
import { nonEmpty, optionObject, positive } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { FileLock } from '../store/sqlite/file-lock.js';
import { hasSqlite } from '../store/sqlite/load-sqlite.js';
import { systemClock, systemIds } from './runtime.js';

export { FILES_EXTENSION, type FileTransferOptions } from '../app/files/files-extension.js';
export {
  type FileFacts,
  type FileLimits,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  isFileId,
  type NewFile,
  type OpenedFile,
  quotaBytes,
  type StoredFile,
} from '../files/file-store.js';
export type { MediaTypeRules } from '../files/media-type-rules.js';
export {
  type AppendedBytes,
  type NewUpload,
  type PartialUpload,
  type UploadEnd,
  UploadOffsetError,
  type UploadStore,
} from '../files/upload-store.js';
export type { ReadFile, TurnFiles, WrittenContent, WrittenFile } from '../server/turn-files.js';

/**
 * Files beside the protocol, for the option `files` of a server: upload and download over HTTP, and `context.files` for
 * agents.
 */
export function fileTransfer(options: FileTransferOptions): HostExtension {
  return filesExtension(options);
}

const amount = Type.Optional(positive);
const memorySchema = optionObject({ storeBytes: amount });
const directorySchema = optionObject({ path: nonEmpty, leftoverMs: amount });

/** Files in the memory of the process. `storeBytes` bounds all of them together; default 256 MiB. */
export function memoryFileStore(options: { readonly storeBytes?: number } = {}): FileStore {
  checkOptions({ subject: 'memoryFileStore', schema: memorySchema, options });
  return new MemoryFileStore({ ...options, clock: systemClock });
}

/** Stores by their paths, so that all servers of this process share the quotas of a directory. */
const directories = new Map<string, FileStore>();

/**
 * Files in a directory of this process, which is created if it is missing. The bytes of a file are synced to the disk
 * before it becomes visible. A lock on the file `parley-lock` keeps other processes out of the directory. `leftoverMs`
 * is the age at which a sweep removes the leftovers of a crash; default 1 hour. A second call with the same path
 * returns the same store.
 */
export function directoryFileStore(options: { readonly path: string; readonly leftoverMs?: number }): FileStore {
  checkOptions({ subject: 'directoryFileStore', schema: directorySchema, options });
  const path = resolve(options.path);
  const known = directories.get(path);
  if (known !== undefined) return known;
  const store = new DirectoryFileStore({ ...options, path, clock: systemClock, ids: systemIds, lock: lockOn });
  directories.set(path, store);
  return store;
}

/** A file lock of the operating system, by SQLite. It ends with the process. Hosts without SQLite have no such lock. */
function lockOn(path: string): DirectoryLock {
  if (!hasSqlite()) return { release: () => {} };
  try {
    return FileLock.take(join(path, 'parley'), 'directory');
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new StorageError(`Cannot keep files in ${path}: ${error.message}`, { cause: error });
  }
}
