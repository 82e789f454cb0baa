import { A2AError } from '../errors/a2a-error.js';
import type { Digester } from './digester.js';
import { fileTooLarge } from './file-errors.js';

/** A file that arrives in gzip (RFC 1952), and its limits. */
interface GzippedFile {
  readonly source: AsyncIterable<Uint8Array>;
  /** The most bytes before they are decoded. */
  readonly maxBytes: number;
  /** The SHA-256 of the bytes as they arrive, in base64. It covers the coding (RFC 9530 §3). */
  readonly digest: string | undefined;
  readonly digester: Digester;
}

/** True if the host can decode gzip. The streams of the web refuse several members, and may miss a broken end. */
export function decodesGzip(): boolean {
  return hostModules?.('node:zlib') !== undefined;
}

const hostModules = globalThis.process?.getBuiltinModule;

/**
 * The decoded bytes of a file, no faster than they are read. The reader that leaves releases the source. Only on hosts
 * that decode gzip.
 * @throws A2AError PAYLOAD_TOO_LARGE beyond `maxBytes`, INVALID_REQUEST for bytes that are no gzip or have another
 * digest; the errors of the source.
 */
export async function* gunzippedChunks(file: GzippedFile): AsyncGenerator<Uint8Array> {
  const gunzip = hostModules('node:zlib').createGunzip();
  const state: { failure?: unknown } = {};
  // It destroys the decoder with an error of the source, and the source with the decoder.
  hostModules('node:stream').pipeline(arriving(file, state), gunzip, () => {});
  try {
    yield* gunzip;
  } catch (cause) {
    if ('failure' in state) throw state.failure;
    throw noGzip(cause);
  }
  if (gunzip.bytesWritten === 0) throw noGzip();
}

/** Copies of the chunks: the decoder asks for the next one before it has read the last one. */
async function* arriving(
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
