import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { CollectedBytes } from '../../bindings/http/read-chunks.js';
import { A2AError } from '../../errors/a2a-error.js';

/** Maximum number of buffered bytes. Beyond them the peer must wait. */
const WAITING_BYTES = 262_144;
/** Chunks below this size are joined with those that arrive in the same turn. */
const SMALL_BYTES = 1_024;
const JOINED_BYTES = 16_384;

/**
 * Streams the body of a request, no faster than it is read. Small chunks are joined, so that chunks of one byte cost
 * little. A chunk is freed when the next one is requested. A reader that leaves early leaves the rest on the
 * connection.
 * @throws A2AError INVALID_REQUEST if the body ends early.
 */
export async function* requestChunks(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  const waiting: CollectedBytes[] = [];
  let waitingBytes = 0;
  let end: { readonly error: unknown } | undefined;
  let wake = (): void => {};
  let willWake = false;
  const wakeSoon = (): void => {
    if (willWake) return;
    willWake = true;
    setImmediate(() => {
      willWake = false;
      wake();
    });
  };
  const take = (chunk: Buffer): void => {
    const isSmall = chunk.length < SMALL_BYTES;
    const last = waiting.at(-1);
    const joins = isSmall && last !== undefined && last.size < JOINED_BYTES;
    const collected = joins ? last : new CollectedBytes();
    collected.push(chunk);
    if (!joins) waiting.push(collected);
    waitingBytes += chunk.length;
    if (waitingBytes >= WAITING_BYTES) incoming.pause();
    if (isSmall) wakeSoon();
    else wake();
  };
  const stop = finished(incoming, { writable: false }, (error) => {
    end = { error };
    wake();
  });
  // An error after a disconnect may follow the end of this reader.
  incoming.on('error', () => {}).on('data', take);
  incoming.resume();
  try {
    for (;;) {
      const chunk = waiting.shift()?.whole();
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
 * Frees the memory of a chunk, unless it shares its buffer with others. Garbage of 64 KiB per chunk would grow to 70
 * MiB before it is collected.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}
