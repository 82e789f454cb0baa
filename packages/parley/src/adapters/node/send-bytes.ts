import type { ServerResponse } from 'node:http';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { headOf, type StallOptions } from './answer.js';

/** An answer whose body comes as chunks of bytes. */
export interface BytesAnswer extends StallOptions {
  readonly response: ServerResponse;
  readonly answer: ExchangeResponse & { readonly bytes: NonNullable<ExchangeResponse['bytes']> };
  readonly closing: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes the chunks as fast as the peer takes them. Releases their source if the peer leaves. */
export async function sendBytes({
  response,
  answer,
  closing,
  clock,
  logger,
  stallMs,
  drop,
}: BytesAnswer): Promise<void> {
  const { length, chunks } = answer.bytes;
  response.writeHead(answer.status, headOf({ answer, length, closing }));
  let sent = 0;
  try {
    if (response.req.method !== 'HEAD') {
      for await (const chunk of chunks) {
        if (response.destroyed) return;
        sent += chunk.length;
        await written(response, chunk, { isLast: sent === length, clock, stallMs, drop });
      }
      if (sent !== length) throw new TypeError(`The body has ${sent} bytes, and its head says ${length}`);
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
function written(
  response: ServerResponse,
  chunk: Uint8Array,
  { isLast, clock, stallMs, drop }: Pick<BytesAnswer, 'clock' | keyof StallOptions> & { readonly isLast: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(stallMs, () => drop(response));
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
