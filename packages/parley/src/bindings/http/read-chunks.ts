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
  const read = new CollectedBytes();
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of chunks) {
    read.push(chunk);
    if (read.size > limit) throw payloadTooLarge(limit);
    const pause = meter?.(read.size);
    if (pause !== undefined) await pause;
  }
  return read.whole();
}

/**
 * Chunks below this size are copied together: a chunk object costs a hundred bytes, and keeps its whole buffer in
 * memory.
 */
const SMALL_BYTES = 1_024;
const BLOCK_BYTES = 16_384;

/** The bytes of a body that comes in chunks, however small they are. */
export class CollectedBytes {
  readonly #chunks: Uint8Array[] = [];
  /** The buffer for small chunks. Its used part is the last of the chunks. */
  #block: Uint8Array | undefined;
  #used = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#chunks.length > 0 && chunk.length < SMALL_BYTES) return this.#append(chunk);
    this.#chunks.push(chunk);
    this.#block = undefined;
  }

  #append(chunk: Uint8Array): void {
    if (this.#block === undefined || this.#used + chunk.length > BLOCK_BYTES) {
      this.#block = new Uint8Array(BLOCK_BYTES);
      this.#used = 0;
      this.#chunks.push(this.#block);
    }
    this.#block.set(chunk, this.#used);
    this.#used += chunk.length;
    this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#used);
  }

  /** All bytes. A single chunk is returned as it is. */
  whole(): Uint8Array {
    return joinChunks(this.#chunks, this.#size);
  }
}

/** The error of a body beyond `limit` bytes. */
export function payloadTooLarge(limit: number): A2AError {
  const message = `The request body is larger than ${limit} bytes. Send large files by uploads, if the agent takes them`;
  return new A2AError('PAYLOAD_TOO_LARGE', message, { metadata: { limit: 'bodyBytes' } });
}

/** Joins chunks of `size` bytes together. A single chunk is returned as it is. */
export function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
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
