import { SETTLED } from './settled.js';

/** The same promise: an agent that does not wait for it must not bring the process down when it rejects. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  if (promise === SETTLED) return promise;
  promise.catch(() => {});
  return promise;
}
