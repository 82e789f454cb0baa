import { ignoreRejection } from 'parley-a2a/kit';

/**
 * Yields the values of a source until the signal aborts, even if the source ignores the signal and never ends. The
 * source is then asked to return, without waiting for it.
 */
export async function* untilAborted<Value>(source: AsyncIterable<Value>, signal: AbortSignal): AsyncGenerator<Value> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for all values: a race with a single promise would keep a reaction for each value until the turn ends.
  let stop = (): void => {};
  const onAbort = (): void => stop();
  signal.addEventListener('abort', onAbort);
  let isDone = false;
  try {
    while (!signal.aborted) {
      const step = await new Promise<IteratorResult<Value> | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (step === undefined) return;
      if (step.done === true) {
        isDone = true;
        return;
      }
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!isDone && iterator.return !== undefined) ignoreRejection(iterator.return());
  }
}
