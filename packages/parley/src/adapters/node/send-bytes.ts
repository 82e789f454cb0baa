import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Logger } from '../../telemetry/logger.js';
import { type AwaitedAnswer, dropUnlessTaken, headOf } from './answer.js';

/** An answer whose body comes as chunks of bytes. */
export interface BytesAnswer extends AwaitedAnswer {
  readonly answer: ExchangeResponse & { readonly bytes: NonNullable<ExchangeResponse['bytes']> };
  readonly closing: boolean;
  readonly logger: Logger;
}

/** Writes the chunks as fast as the peer takes them. Releases their source if the peer leaves. */
export async function sendBytes(sent: BytesAnswer): Promise<void> {
  const { response, answer, closing, logger } = sent;
  const { length, chunks } = answer.bytes;
  response.writeHead(answer.status, headOf({ answer, length, closing }));
  let written = 0;
  try {
    if (response.req.method !== 'HEAD') {
      for await (const chunk of chunks) {
        if (response.destroyed) return;
        written += chunk.length;
        await write(chunk, written === length, sent);
      }
      if (written !== length) throw new TypeError(`The body has ${written} bytes, and its head says ${length}`);
    }
    if (!response.writableEnded) response.end();
  } catch (error) {
    // A clean end would look like the whole answer.
    logger.error('An answer of bytes failed', { error });
    response.destroy();
  }
}

/**
 * Writes a chunk. Resolves when the peer has taken it, because its source may use the memory again, or has left. The
 * answer ends with its last chunk: a peer that has all bytes may close the connection at once.
 */
function write(chunk: Uint8Array, isLast: boolean, answer: AwaitedAnswer): Promise<void> {
  const { response } = answer;
  return new Promise((resolve) => {
    const cancel = dropUnlessTaken(answer);
    const done = () => {
      cancel();
      response.off('close', done);
      resolve();
    };
    response.once('close', done);
    if (isLast) response.end(chunk, done);
    else response.write(chunk, done);
  });
}
