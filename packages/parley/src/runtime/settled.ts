/** A promise that is resolved. All share it, and no one needs to watch it. */
export const SETTLED: Promise<void> = Promise.resolve();

/** The same promise, whose rejection no caller has to handle: the process goes on. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  if (promise === SETTLED) return promise;
  promise.catch(() => {});
  return promise;
}
