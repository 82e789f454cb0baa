import type { CompressionOptions, Compressor } from '../../app/middleware/compression.js';

/** Compresses on the thread pool of Node.js, not on the main thread. */
export function nodeCompressor({ gzipLevel = 6, brotliQuality = 4 }: CompressionOptions): Compressor {
  return {
    encodings: ['br', 'gzip'],
    compress: (body, encoding) =>
      new Promise((resolve, reject) => {
        // Loaded by the first compression.
        const { brotliCompress, gzip, constants } = process.getBuiltinModule('node:zlib');
        const done = (error: Error | null, result: Uint8Array) => (error === null ? resolve(result) : reject(error));
        if (encoding === 'gzip') gzip(body, { level: gzipLevel }, done);
        else {
          const params = {
            [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
            [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
            [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
          };
          brotliCompress(body, { params }, done);
        }
      }),
  };
}
