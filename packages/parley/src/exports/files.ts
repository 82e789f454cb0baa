import { type FileTransferOptions, filesExtension } from '../app/files/files-extension.js';
import type { HostExtension } from '../app/host-extension.js';
import { DirectoryFileStore } from '../files/directory/directory-file-store.js';
import type { FileStore } from '../files/file-store.js';
import { MemoryFileStore } from '../files/memory-file-store.js';
import { systemClock, systemIds } from './runtime.js';

export { FILES_EXTENSION, type FileTransferOptions } from '../app/files/files-extension.js';
export {
  countedBytes,
  type FileFacts,
  type FileLimits,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  isFileId,
  type NewFile,
  type OpenedFile,
  type StoredFile,
} from '../files/file-store.js';
export type { MediaTypeRules } from '../files/media-type-rules.js';
export type { ReadFile, TurnFiles, WrittenContent, WrittenFile } from '../server/turn-files.js';

/**
 * Files beside the protocol, for the option `files` of a server: upload and download over HTTP, and `context.files` for
 * agents.
 */
export function fileTransfer(options: FileTransferOptions): HostExtension {
  return filesExtension(options);
}

/** Files in the memory of the process. `storeBytes` bounds all of them together; default 256 MiB. */
export function memoryFileStore(options: { readonly storeBytes?: number } = {}): FileStore {
  return new MemoryFileStore({ ...options, clock: systemClock });
}

/**
 * Files in a directory of this process, which is made if it is missing. Their bytes are synced to the disk before a
 * file is there. `leftoverMs` is the age at which a sweep removes what a crash has left; default 1 hour.
 */
export function directoryFileStore(options: { readonly path: string; readonly leftoverMs?: number }): FileStore {
  return new DirectoryFileStore({ ...options, clock: systemClock, ids: systemIds });
}
