import type { OwnerFiles } from './owner-files.js';
import type { UploadStore } from './upload-store.js';

/** A user of an agent. All files of one have a quota together, because an operator may let a user name any tenant. */
export interface FileOwner {
  /** Id of the agent's task space. */
  readonly agent: string;
  /** Id of the user; `null` is the anonymous caller, who equals no user. */
  readonly owner: string | null;
}

/** The place of files. Every read and write is confined to one scope. */
export interface FileScope extends FileOwner {
  /** "" is no tenant. */
  readonly tenant: string;
}

/** A text for an owner. No two owners have the same. */
export function fileOwnerText({ agent, owner }: FileOwner): string {
  return JSON.stringify([agent, owner]);
}

/** A text for a scope. No two scopes have the same. */
export function fileScopeText({ agent, tenant, owner }: FileScope): string {
  return JSON.stringify([agent, tenant, owner]);
}

/** The facts about a file that are known once all of its bytes have arrived. */
export interface FileFacts {
  /** Absent: it has no name. */
  readonly filename?: string;
  /** Without parameters, in lower case. */
  readonly mediaType: string;
  /** The SHA-256 of the bytes, in base64. */
  readonly digest: string;
}

/** A file of a scope. Its bytes never change. */
export interface StoredFile extends FileFacts {
  /** Of 32 hex digits. The server makes it; no name from outside enters it. */
  readonly id: string;
  /** In bytes. */
  readonly size: number;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** ms since the epoch. From then on no caller finds the file. */
  readonly expiresAt: number;
}

/** A file on its way into a store. */
export interface NewFile {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** In bytes, if the sender has told it. The store reserves so much of the quota at once. */
  readonly size?: number | undefined;
  /**
   * Throws if the bytes are not to be kept. The store reads it at most once, and never faster than it stores. A chunk
   * holds until the next one is asked for: a store copies the bytes that it keeps.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called once after the last chunk. Throws if the file is not to be kept. */
  readonly finish: () => FileFacts;
}

/** The most that a store takes. */
export interface FileLimits {
  /** Of one file, in bytes. */
  readonly maxBytes: number;
  /** Of all files of the owner, in bytes, with those that arrive at the same time. */
  readonly ownerBytes: number;
}

/** A part of a file: from byte `start` to before byte `end`. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/** A file, and its bytes or a part of them. */
export interface OpenedFile {
  readonly file: StoredFile;
  /**
   * To be read once. A chunk holds until the next one is asked for. If the reader leaves early, `return` of its
   * iterator releases the file.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The files of an owner. */
export interface FileUsage {
  readonly files: number;
  /** As they count for the quota: see `quotaBytes`. */
  readonly bytes: number;
}

/** The least that a file counts for a quota, in bytes, so that many small files have a bound too. */
export const LEAST_COUNTED_BYTES = 4096;

/** The bytes of a file as they count for the quota of its owner. */
export function quotaBytes(size: number): number {
  return Math.max(size, LEAST_COUNTED_BYTES);
}

/** True for the form of our ids. A store looks at nothing else. */
export function isFileId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/**
 * Stores files as streams. A file is found only when all of it is stored. The bytes that a crash or an error leaves are
 * never read, and a sweep removes them. Expired files are not found any more.
 */
export interface FileStore {
  /**
   * Stores a file. If the scope has a file of this id, that one is the answer, and the chunks are not read. If anything
   * throws, nothing is left and nothing counts. Files that arrive together never pass `ownerBytes` in the end, in all
   * processes of a store. They may be refused together, if only some of them have room.
   * @throws A2AError PAYLOAD_TOO_LARGE beyond `maxBytes`, RESOURCE_EXHAUSTED beyond `ownerBytes`.
   */
  put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile>;
  /** A file without its bytes; `undefined` if the scope has none of this id. */
  head(scope: FileScope, id: string): Promise<StoredFile | undefined>;
  /**
   * A file with its bytes, or a part of them. A file that is deleted meanwhile is read to its end, or the read fails.
   * @throws RangeError if the range is not within the file.
   */
  read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined>;
  /** Deletes a file. False if the scope has none of this id. */
  delete(scope: FileScope, id: string): Promise<boolean>;
  /**
   * The stored files of an owner in all tenants. Uploads in several requests count with their bytes, other arriving
   * files do not.
   */
  usage(owner: FileOwner): Promise<FileUsage>;
  /**
   * Removes expired files of all scopes, and what crashes have left. Resolves to the number of removed files. Rejects
   * at its end if some could not be read or removed. The next sweep tries them again.
   */
  sweep(): Promise<number>;
  /** Uploads in several requests. Absent: the store takes none. */
  readonly uploads?: UploadStore;
  /** The files of users, for exports and erasures. Absent: the store can do neither. */
  readonly owners?: OwnerFiles;
  /**
   * Takes what the store needs, at the start of a server. A call takes it too. Absent: it needs nothing.
   * @throws StorageError if another process has it.
   */
  open?(): Promise<void>;
  /** Gives back what `open` has taken, when a server has ended. */
  close?(): Promise<void>;
}
