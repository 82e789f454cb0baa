import type { Part, UrlPart } from '../model/part.js';

/** The content of a file that an agent writes. Streams are read as fast as the store takes them. */
export type WrittenContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** The description of a file that an agent writes. */
export interface WrittenFile {
  readonly filename?: string;
  /** Default: the type that the first bytes show, else `application/octet-stream`. */
  readonly mediaType?: string;
  /** The time until the file is deleted, in ms. Default: that of the server. */
  readonly expiryMs?: number;
}

/** A file that an agent reads. */
export interface ReadFile {
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** In bytes. */
  readonly size: number;
  /** The bytes, once. They come from the store as they are read. */
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
   * The parts with the bytes of the caller's files in the place of their urls. The first files that fit count
   * together at most `maxBytes`. The urls of the others stay, as do urls of other servers.
   */
  inline(parts: readonly Part[], maxBytes: number): Promise<readonly Part[]>;
  /**
   * Stores a file for the caller. Resolves to the part that points to it, for an artifact or a message.
   * @throws A2AError RESOURCE_EXHAUSTED if the file or the files of the caller are too large.
   */
  write(content: WrittenContent, about?: WrittenFile): Promise<UrlPart>;
}
