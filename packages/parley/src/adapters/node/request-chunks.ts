import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { A2AError } from '../../errors/a2a-error.js';

/** The bytes that may wait for the reader. Beyond them the peer waits. */
const WAITING_BYTES = 262_144;

/**
 * The body of a request as it arrives, no faster than it is read. A chunk is freed when the next one is asked for. A
 * reader that leaves early leaves the rest on the connection.
 * @throws A2AError INVALID_REQUEST if the body ends early.
 */
export async function* requestChunks(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let end: { readonly error: unknown } | undefined;
  let wake = (): void => {};
  const take = (chunk: Buffer): void => {
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes >= WAITING_BYTES) incoming.pause();
    wake();
  };
  const stop = finished(incoming, { writable: false }, (error) => {
    end = { error };
    wake();
  });
  // The error of a peer that leaves may come after the end of this reader.
  incoming.on('error', () => {}).on('data', take);
  incoming.resume();
  try {
    for (;;) {
      const chunk = waiting.shift();
      if (chunk !== undefined) {
        waitingBytes -= chunk.length;
        if (waitingBytes < WAITING_BYTES && incoming.isPaused()) incoming.resume();
        yield chunk;
        if (incoming.listenerCount('data') <= 1) release(chunk);
      } else if (end === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if (end.error == null) return;
      else throw new A2AError('INVALID_REQUEST', 'The request body ended early', {}, { cause: end.error });
    }
  } finally {
    stop();
    incoming.off('data', take).pause();
  }
}

/**
 * Frees the memory of a chunk, unless it shares its memory with others. Garbage of 64 KiB a chunk would grow to 70 MiB
 * before it is collected.
 */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}
