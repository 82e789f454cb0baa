import type { OwnerFiles } from './owner-files.js';
import type { UploadStore } from './upload-store.js';

/**
 * A user of an agent. All files of one share a quota in all tenants, because an operator may let a user name any
 * tenant.
 */
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

/** A unique text for an owner. */
export function fileOwnerText({ agent, owner }: FileOwner): string {
  return JSON.stringify([agent, owner]);
}

/** A unique text for a scope. */
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
  /** 32 hex digits. The server makes it; no untrusted name is part of it. */
  readonly id: string;
  /** In bytes. */
  readonly size: number;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** ms since the epoch. After that no caller finds the file. */
  readonly expiresAt: number;
}

/** A file to store. */
export interface NewFile {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** In bytes, if the sender has declared it. The store then reserves this part of the quota at once. */
  readonly size?: number | undefined;
  /**
   * The bytes. Throws if they must not be stored. The store reads it at most once, and never faster than it writes. A
   * chunk is valid until the next one is requested: a store copies the bytes that it keeps.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called once after the last chunk. Throws if the file must not be stored. */
  readonly finish: () => FileFacts;
}

/** Limits of a store. */
export interface FileLimits {
  /** Maximum size of one file, in bytes. */
  readonly maxBytes: number;
  /** Maximum size of all files of the owner, in bytes, with those that are being received. */
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
   * Read it once. A chunk is valid until the next one is requested. If the reader leaves early, `return` of its
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

/** The minimum that a file counts for a quota, in bytes, so that many small files are bounded, too. */
export const LEAST_COUNTED_BYTES = 4096;

/** The bytes of a file as they count for the quota of its owner. */
export function quotaBytes(size: number): number {
  return Math.max(size, LEAST_COUNTED_BYTES);
}

/** True if a text has the form of a file id. A store looks up nothing else. */
export function isFileId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/**
 * Stores files as streams. A file is visible only when all of it is stored. Bytes left by a crash or an error are never
 * read, and a sweep removes them. Expired files are not found.
 */
export interface FileStore {
  /**
   * Stores a file. If the scope has a file of this id, that one is the result, and the chunks are not read. If anything
   * throws, nothing stays and nothing counts. Files that are stored concurrently never exceed `ownerBytes` together, in
   * all processes of a store. If only some of them have room, all may be refused.
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
   * The stored files of an owner in all tenants. Partial uploads count with their bytes; other files that are being
   * received do not.
   */
  usage(owner: FileOwner): Promise<FileUsage>;
  /**
   * Removes expired files of all scopes, and bytes left by crashes. Resolves to the number of removed files. Rejects at
   * its end if some could not be read or removed. The next sweep retries them.
   */
  sweep(): Promise<number>;
  /** Uploads in several requests. Absent: not supported. */
  readonly uploads?: UploadStore;
  /** The files of users, for exports and erasures. Absent: neither is supported. */
  readonly owners?: OwnerFiles;
  /**
   * Acquires the resources of the store, at the start of a server. A call does it, too. Absent: nothing is needed.
   * @throws StorageError if another process has the store.
   */
  open?(): Promise<void>;
  /** Releases the resources of `open`, at the end of a server. */
  close?(): Promise<void>;
}
