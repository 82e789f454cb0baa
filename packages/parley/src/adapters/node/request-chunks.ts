import type { IncomingMessage } from 'node:http';
import { A2AError } from '../../errors/a2a-error.js';

/**
 * The body of a request as it arrives, no faster than it is read. A reader that leaves early leaves the rest on the
 * connection.
 * @throws A2AError INVALID_REQUEST if the body ends early.
 */
export async function* requestChunks(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new A2AError('INVALID_REQUEST', 'The request body ended early', {}, { cause });
  }
}
