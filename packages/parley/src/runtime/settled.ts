/** A resolved promise, shared by all. */
export const SETTLED: Promise<void> = Promise.resolve();

/** The promise of a call. If the call throws at once, as that of a custom storage may, the promise is rejected. */
export function attempt<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The same promise, without an unhandled rejection. An ignored rejection does not end the process. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  if (promise === SETTLED) return promise;
  promise.catch(() => {});
  return promise;
}
