import { A2AError } from '../errors/a2a-error.js';
import type { FileFacts, FileLimits, FileScope, StoredFile } from './file-store.js';

/** The description of an upload in several requests. */
export interface NewUpload {
  /** The id of the file that it becomes. */
  readonly id: string;
  /** Size of the whole file, in bytes. It counts for the quota of the owner from the beginning. */
  readonly size: number;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** ms since the epoch. After that no caller finds the upload. */
  readonly expiresAt: number;
  readonly filename?: string | undefined;
  readonly mediaType?: string | undefined;
  /** The SHA-256 of the whole file, in base64. */
  readonly digest?: string | undefined;
}

/** An upload that is not a file yet. */
export interface PartialUpload extends NewUpload {
  /** The bytes that are stored. */
  readonly offset: number;
}

/** Bytes for an upload. */
export interface AppendedBytes {
  readonly id: string;
  /** The position of the first byte, which must be the offset of the upload. */
  readonly offset: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The end of an upload. */
export interface UploadEnd {
  readonly id: string;
  /** The time of the file, in ms since the epoch. */
  readonly createdAt: number;
  /** The expiry of the file, in ms since the epoch. */
  readonly expiresAt: number;
  /** Reads the stored bytes. Rejects if they must not become a file. */
  readonly check: (chunks: AsyncIterable<Uint8Array>) => Promise<FileFacts>;
}

/** The offset of received bytes is not that of the upload. */
export class UploadOffsetError extends A2AError {
  override readonly name = 'UploadOffsetError';
  readonly offset: number;

  constructor(offset: number) {
    super('INVALID_REQUEST', `Upload-Offset: the upload has ${offset} bytes. Send the byte after them first`);
    this.offset = offset;
  }
}

/** Uploads that resume after a lost connection or a killed server. Appends to one upload run one after another. */
export interface UploadStore {
  /** Begins an upload. @throws A2AError PAYLOAD_TOO_LARGE or RESOURCE_EXHAUSTED, as for a file of its size. */
  begin(scope: FileScope, upload: NewUpload, limits: FileLimits): Promise<void>;
  /** An upload of a scope; `undefined` if there is none of this id. */
  find(scope: FileScope, id: string): Promise<PartialUpload | undefined>;
  /**
   * Appends chunks, and resolves to the new offset; `undefined` if there is no such upload. The bytes before an error
   * stay.
   * @throws UploadOffsetError, or A2AError INVALID_REQUEST for more bytes than the size.
   */
  append(scope: FileScope, bytes: AppendedBytes): Promise<number | undefined>;
  /** Makes the file of an upload that has all of its bytes; `undefined` if there is no such upload. */
  complete(scope: FileScope, end: UploadEnd): Promise<StoredFile | undefined>;
  /** Removes an upload. False if there is none of this id. */
  remove(scope: FileScope, id: string): Promise<boolean>;
}
