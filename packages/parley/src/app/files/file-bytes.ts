import type { FileScope, FileStore } from '../../files/file-store.js';
import { toBase64 } from '../../runtime/base64-bytes.js';
import type { Logger } from '../../telemetry/logger.js';
import type { NamedFile } from './file-places.js';
import type { MapPart } from './mapped-parts.js';

/** The files of a scope as bytes. Sizes are in bytes. */
export interface FileBytesOptions {
  readonly store: Pick<FileStore, 'head' | 'read'>;
  readonly scope: FileScope;
  /** The file of this server that a url names. */
  readonly named: (url: string) => NamedFile | undefined;
  /** The most bytes of all files together. */
  readonly mostBytes: number;
  readonly logger: Logger;
}

/** Puts the bytes of files in the place of their urls, up to a sum. The rest of the urls stay. */
export function bytesOfFiles({ store, scope, named, mostBytes, logger }: FileBytesOptions): MapPart {
  let left = mostBytes;
  return async (part) => {
    const name = part.url !== undefined ? named(part.url) : undefined;
    if (name === undefined || name.tenant !== scope.tenant) return part;
    try {
      const file = await store.head(scope, name.id);
      if (file === undefined || file.size > left) return part;
      const opened = await store.read(scope, name.id);
      if (opened === undefined) return part;
      const bytes = await wholeBytes(opened.chunks, file.size);
      left -= file.size;
      const { filename, mediaType, metadata } = part;
      return {
        raw: toBase64(bytes),
        ...(filename !== undefined && { filename }),
        ...(mediaType !== undefined && { mediaType }),
        ...(metadata !== undefined && { metadata }),
      };
    } catch (error) {
      logger.error('a file could not be read as bytes', { error });
      return part;
    }
  };
}

/** The chunks of a file of `size` bytes as one. */
export async function wholeBytes(chunks: AsyncIterable<Uint8Array>, size: number): Promise<Uint8Array> {
  const whole = new Uint8Array(size);
  let at = 0;
  for await (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
