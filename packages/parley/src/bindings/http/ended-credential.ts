import { A2AError } from '../../errors/a2a-error.js';

/** The error of a stream or a waiting call whose credential ends. */
export function endedCredentialError(): A2AError {
  return new A2AError('UNAUTHENTICATED', 'The credential has expired or was revoked');
}

/** A wait for work. */
interface WatchedWork<Result> {
  /** The result, unless the credential of the caller ends before. The work itself goes on. */
  readonly outcome: Promise<Result>;
  /** Ends the watch. To be called when the wait is over. */
  readonly stop: () => void;
}

/** Waits for work until the credential of the caller ends. */
export function untilCredentialEnds<Result>(
  work: Promise<Result>,
  onCredentialEnd: (ended: () => void) => () => void,
): WatchedWork<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const stop = onCredentialEnd(() => reject(endedCredentialError()));
  work.then(resolve, reject);
  return { outcome: promise, stop };
}
