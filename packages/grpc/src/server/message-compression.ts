import { createGunzip, createInflate } from 'node:zlib';
import { type BodyMeter, joinChunks } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';

/** The encodings of messages that the server reads. It sends messages uncompressed. */
export const CODINGS: readonly string[] = ['identity', 'gzip', 'deflate'];

/** A compressed message, and its limits. */
interface CompressedMessage {
  readonly coding: string | string[] | undefined;
  /** Maximum number of bytes after decompression. */
  readonly limit: number;
  readonly meter: BodyMeter | undefined;
}

/**
 * Decompresses a message. Stops as soon as the limit is exceeded.
 * @throws A2AError PAYLOAD_TOO_LARGE, INVALID_REQUEST, RESOURCE_EXHAUSTED (too many large messages at the same time).
 */
export async function decompressMessage(
  bytes: Uint8Array,
  { coding, limit, meter }: CompressedMessage,
): Promise<Uint8Array> {
  if (coding !== 'gzip' && coding !== 'deflate') {
    throw new A2AError('INVALID_REQUEST', 'The message is marked as compressed, and the call names no encoding');
  }
  const inflater = coding === 'gzip' ? createGunzip() : createInflate();
  inflater.end(bytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop destroys the inflater.
    for await (const chunk of inflater as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      const pause = meter?.(bytes.length + size);
      if (pause !== undefined) await pause;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof A2AError) throw error;
    throw new A2AError('INVALID_REQUEST', `The message is no ${coding}`, {}, { cause: error });
  }
  return joinChunks(chunks, size);
}

/** The error of a message with more bytes than the limit. */
export function tooLarge(limit: number): A2AError {
  const message = `The message has more than ${limit} bytes, the limit of this server`;
  return new A2AError('PAYLOAD_TOO_LARGE', message, { metadata: { limit: 'maxMessageBytes' } });
}
