import { A2AError } from '../../errors/a2a-error.js';

/** The error of a stream or a waiting call whose credential ends. */
export function endedCredentialError(): A2AError {
  return new A2AError('UNAUTHENTICATED', 'The credential has expired or was revoked');
}

/** The result of work, unless the credential of the caller ends before. The work itself goes on. */
export function untilCredentialEnds<Result>(
  work: Promise<Result>,
  onCredentialEnd: (ended: () => void) => () => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = onCredentialEnd(() => reject(endedCredentialError()));
    work.then(
      (result) => {
        stop();
        resolve(result);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}
