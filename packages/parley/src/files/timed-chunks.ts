import { A2AError } from '../errors/a2a-error.js';
import type { Clock } from '../runtime/clock.js';

/** Time limits of received bytes. */
interface ArrivalTimes {
  readonly clock: Clock;
  /** The longest pause between two chunks, in ms. */
  readonly idleMs: number;
  /** The longest time until the last chunk, in ms. */
  readonly totalMs: number;
  /** Calls `ended` once if the bytes are no longer wanted. Returns the function that unregisters it. */
  readonly onEnd?: ((ended: () => void) => () => void) | undefined;
}

/** Bytes that arrived too slowly. */
export class SlowUploadError extends A2AError {
  override readonly name = 'SlowUploadError';
  constructor(message: string, limit: 'idleMs' | 'uploadMs') {
    super('INVALID_REQUEST', message, { metadata: { limit } });
  }
}

/**
 * The same chunks, with time limits. If the reader leaves or the wait ends with an error, the source is released.
 * @throws SlowUploadError after a pause that is too long, or after the total time.
 */
export async function* timedChunks(source: AsyncIterable<Uint8Array>, times: ArrivalTimes): AsyncGenerator<Uint8Array> {
  const { clock, idleMs, totalMs, onEnd } = times;
  const iterator = source[Symbol.asyncIterator]();
  let failure: Error | undefined;
  let fail: ((error: Error) => void) | undefined;
  const end = (error: Error) => {
    failure ??= error;
    fail?.(error);
  };
  // A race with one long-lived promise would keep all chunks in memory.
  const nextInTime = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      if (failure !== undefined) return reject(failure);
      fail = reject;
      iterator.next().then(resolve, reject);
    });
  let arrivedAt = clock.monotonic();
  let isWaiting = true;
  let stopIdle: (() => void) | undefined;
  // One timer for many chunks: it checks when the last one arrived.
  const watch = (ms: number) => {
    stopIdle = clock.after(ms, () => {
      const pause = isWaiting ? clock.monotonic() - arrivedAt : 0;
      if (pause >= idleMs) end(new SlowUploadError(`No bytes came for ${idleMs} ms`, 'idleMs'));
      else watch(idleMs - pause);
    });
  };
  watch(idleMs);
  const stopTotal = clock.after(totalMs, () =>
    end(new SlowUploadError(`The file took longer than ${totalMs} ms`, 'uploadMs')),
  );
  const stopEnd = onEnd?.(() => end(new A2AError('UNAUTHENTICATED', 'The credential has ended')));
  let isDone = false;
  try {
    for (;;) {
      isWaiting = true;
      arrivedAt = clock.monotonic();
      const next = await nextInTime();
      isWaiting = false;
      if (next.done === true) {
        isDone = true;
        return;
      }
      yield next.value;
    }
  } finally {
    stopIdle?.();
    stopTotal();
    stopEnd?.();
    // A stuck source would never answer, so `return` is not awaited.
    if (!isDone) iterator.return?.().catch(() => {});
  }
}
