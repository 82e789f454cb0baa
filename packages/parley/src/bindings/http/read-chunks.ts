import { A2AError } from '../../errors/a2a-error.js';
import type { BodyMeter } from './body-budget.js';

/**
 * Reads a body of several chunks.
 * @throws A2AError PAYLOAD_TOO_LARGE beyond `limit` bytes, without reading further.
 */
export async function readChunks(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
  meter?: BodyMeter,
): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw payloadTooLarge(limit);
    const pause = meter?.(size);
    if (pause !== undefined) await pause;
    read.push(chunk);
  }
  return joined(read, size);
}

/** The error of a body beyond `limit` bytes. */
export function payloadTooLarge(limit: number): A2AError {
  const message = `The request body is larger than ${limit} bytes`;
  return new A2AError('PAYLOAD_TOO_LARGE', message, { metadata: { limit: 'bodyBytes' } });
}

/** Joins chunks of `size` bytes together. A single chunk is returned as it is. */
export function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
