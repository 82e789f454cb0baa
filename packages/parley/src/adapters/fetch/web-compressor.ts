import type { Compressor } from '../../app/middleware/compression.js';
import type { ContentEncoding } from '../../bindings/http/accept-encoding.js';

type Format = ConstructorParameters<typeof CompressionStream>[0];

/** Names of the encodings in the compression streams of the web. */
const FORMATS: readonly (readonly [ContentEncoding, string])[] = [
  ['br', 'brotli'],
  ['gzip', 'gzip'],
];

/** Compresses with the streams of the web, at the level of the host. A host without them compresses nothing. */
export function webCompressor(): Compressor {
  const formats = new Map(FORMATS.filter(([, format]) => hasFormat(format)));
  return {
    encodings: [...formats.keys()],
    async compress(body, encoding) {
      const stream = new Response(body as string | Uint8Array<ArrayBuffer>).body;
      const format = formats.get(encoding) as Format;
      const compressed = stream?.pipeThrough(new CompressionStream(format));
      return new Uint8Array(await new Response(compressed).arrayBuffer());
    },
  };
}

function hasFormat(format: string): boolean {
  try {
    new CompressionStream(format as Format);
    return true;
  } catch {
    return false;
  }
}
