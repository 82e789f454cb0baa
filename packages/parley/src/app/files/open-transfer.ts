import type { BindingContext } from '../../bindings/http/binding-context.js';
import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';

const BUSY_RETRY_MS = 5_000;

/** A body without bytes. */
export const NO_CHUNKS: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** Takes a place among the open streams of the caller. Returns the function that gives it back, once. */
export function takePlace({ streamPlaces, addressOf }: BindingContext, request: ExchangeRequest): () => void {
  const caller = request.user?.id ?? addressOf?.(request);
  if (streamPlaces?.take(caller) !== undefined) {
    const details = { metadata: { limit: 'streams' }, retryAfterMs: BUSY_RETRY_MS };
    throw new A2AError('RESOURCE_EXHAUSTED', 'Too many files and streams are open. Try again later', details);
  }
  let isTaken = true;
  return () => {
    if (isTaken) streamPlaces?.give(caller);
    isTaken = false;
  };
}

/** The chunks until the credential of their reader ends. `done` is called once. */
export function untilEnd(
  chunks: AsyncIterable<Uint8Array>,
  onEnd: ExchangeRequest['onCredentialEnd'],
  done: () => void,
): AsyncIterable<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let hasEnded = false;
  const stop = onEnd?.(() => {
    hasEnded = true;
  });
  const finish = () => {
    stop?.();
    done();
  };
  const reader: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => reader,
    async next() {
      try {
        if (hasEnded) throw new A2AError('UNAUTHENTICATED', 'The credential has ended');
        const next = await iterator.next();
        if (next.done === true) finish();
        return next;
      } catch (error) {
        finish();
        throw error;
      }
    },
    async return() {
      finish();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return reader;
}
