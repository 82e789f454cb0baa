import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Logger } from '../../telemetry/logger.js';
import { type AwaitedAnswer, dropUnlessTaken, headOf } from './answer.js';

/** An answer whose body comes as chunks of bytes. */
export interface BytesAnswer extends AwaitedAnswer {
  readonly answer: ExchangeResponse & { readonly bytes: NonNullable<ExchangeResponse['bytes']> };
  readonly closing: boolean;
  readonly logger: Logger;
}

/** Writes the chunks as fast as the peer reads them. Releases their source if the peer disconnects. */
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
    // The connection is cut, because a clean end would look like a complete answer.
    logger.error('An answer of bytes failed', { error });
    response.destroy();
  }
}

/**
 * Writes a chunk. Resolves when it is sent, because its source may reuse the memory, or when the peer has disconnected.
 * The last chunk ends the answer: a peer that has all bytes may close the connection at once.
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
