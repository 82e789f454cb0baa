import type { Part, UrlPart } from '../model/part.js';

/** The content of a file that an agent writes. Streams are read with back-pressure from the store. */
export type WrittenContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** The description of a file that an agent writes. */
export interface WrittenFile {
  readonly filename?: string;
  /** Default: the type detected from the first bytes, else `application/octet-stream`. */
  readonly mediaType?: string;
  /** Time until the file is deleted, in ms. Default: that of the server. */
  readonly expiryMs?: number;
}

/** A file that an agent reads. */
export interface ReadFile {
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** Size in bytes. */
  readonly size: number;
  /** The bytes, readable once. They are read from the store on demand. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * All bytes at once.
   * @throws RangeError if the file has more than `maxBytes`.
   */
  bytes(maxBytes: number): Promise<Uint8Array>;
}

/** The files of the caller of a turn. */
export interface TurnFiles {
  /**
   * Opens the file of a part: its raw bytes, or a url of this server. Other urls are never fetched.
   * @throws InvalidParamsError if the part has no file, or its url is not a file of this caller.
   */
  open(part: Part): Promise<ReadFile>;
  /**
   * Returns the parts with the bytes of the caller's files instead of their urls. Files are included in order while
   * they fit into `maxBytes` together. Other urls are unchanged, including those of other servers.
   */
  inline(parts: readonly Part[], maxBytes: number): Promise<readonly Part[]>;
  /**
   * Stores a file for the caller. Resolves to the part that points to it, for an artifact or a message.
   * @throws A2AError RESOURCE_EXHAUSTED if the file or the files of the caller are too large.
   */
  write(content: WrittenContent, about?: WrittenFile): Promise<UrlPart>;
}
