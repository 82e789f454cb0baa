import type { IncomingMessage } from 'node:http';
import type { BodyMeter } from '../../bindings/http/body-budget.js';
import { CollectedBytes, payloadTooLarge } from '../../bindings/http/read-chunks.js';
import { A2AError } from '../../errors/a2a-error.js';

const NOTHING = new Uint8Array(0);

/** True if the request announces a body. */
export function hasBody(incoming: IncomingMessage): boolean {
  return incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined;
}

/**
 * Reads the body of a request, up to `limit` bytes. The meter can pause it.
 * @throws A2AError PAYLOAD_TOO_LARGE as soon as the limit is known to be exceeded, with the rest left unread.
 */
export function readBody(incoming: IncomingMessage, limit: number, meter?: BodyMeter): Promise<Uint8Array> {
  if (!hasBody(incoming)) return Promise.resolve(NOTHING);
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return Promise.reject(payloadTooLarge(limit));
  if (incoming.destroyed) return Promise.reject(endedEarly());
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let size = 0;
  let first: Buffer | undefined;
  let more: CollectedBytes | undefined;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) {
      incoming.off('data', onData).pause();
      reject(payloadTooLarge(limit));
      return;
    }
    if (first === undefined) first = chunk;
    else {
      if (more === undefined) {
        more = new CollectedBytes();
        more.push(first);
      }
      more.push(chunk);
    }
    const pause = meter?.(size);
    if (pause === undefined) return;
    incoming.pause();
    pause.then(
      () => incoming.resume(),
      (error: unknown) => {
        incoming.off('data', onData);
        reject(error);
      },
    );
  };
  incoming.on('data', onData);
  incoming.on('end', () => resolve(more !== undefined ? more.whole() : (first ?? NOTHING)));
  // `close` also follows `end`; it does not change a settled promise.
  incoming.on('close', () => {
    if (!incoming.complete) reject(endedEarly());
  });
  return promise;
}

function endedEarly(): A2AError {
  return new A2AError('INVALID_REQUEST', 'The request body ended early');
}
