import { A2AError } from '../errors/a2a-error.js';
import type { Digester } from './digester.js';
import { fileTooLarge } from './file-errors.js';

/** A file that is received in gzip (RFC 1952), and its limits. */
interface GzippedFile {
  readonly source: AsyncIterable<Uint8Array>;
  /** Maximum number of bytes before decoding. */
  readonly maxBytes: number;
  /** The SHA-256 of the received bytes, in base64. It covers the coding (RFC 9530 §3). */
  readonly digest: string | undefined;
  readonly digester: Digester;
}

/** True if the host can decode gzip. The web streams refuse several gzip members, and may miss a truncated end. */
export function decodesGzip(): boolean {
  return hostModules?.('node:zlib') !== undefined;
}

const hostModules = globalThis.process?.getBuiltinModule;

/**
 * Decodes a file, no faster than it is read. If the reader leaves, the source is released. Only for hosts that decode
 * gzip.
 * @throws A2AError PAYLOAD_TOO_LARGE beyond `maxBytes`, INVALID_REQUEST for invalid gzip or another digest; the errors
 * of the source.
 */
export async function* gunzippedChunks(file: GzippedFile): AsyncGenerator<Uint8Array> {
  const gunzip = hostModules('node:zlib').createGunzip();
  const state: { failure?: unknown } = {};
  // The pipeline destroys the decoder with an error of the source, and the source with the decoder.
  hostModules('node:stream').pipeline(readChunks(file, state), gunzip, () => {});
  try {
    yield* gunzip;
  } catch (cause) {
    if ('failure' in state) throw state.failure;
    throw noGzip(cause);
  }
  if (gunzip.bytesWritten === 0) throw noGzip();
}

/** Copies each chunk: the decoder requests the next one before it has read the last one. */
async function* readChunks(
  { source, maxBytes, digest, digester }: GzippedFile,
  state: { failure?: unknown },
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw fileTooLarge(maxBytes);
      digester.update(chunk);
      yield new Uint8Array(chunk);
    }
    if (digest !== undefined && digester.digest() !== digest) {
      throw new A2AError('INVALID_REQUEST', 'The SHA-256 of the body is not the declared one');
    }
  } catch (error) {
    state.failure = error;
    throw error;
  }
}

function noGzip(cause?: unknown): A2AError {
  return new A2AError('INVALID_REQUEST', 'The body is no gzip', {}, { cause });
}
