import { ignoreRejection } from 'parley-a2a/kit';

/**
 * The values of a source until the signal aborts, also if the source does not hear the signal and never ends. The
 * source is then told to stop, and not waited for.
 */
export async function* untilAborted<Value>(source: AsyncIterable<Value>, signal: AbortSignal): AsyncGenerator<Value> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for all values: a race with one promise would keep every loser until the turn ends.
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
