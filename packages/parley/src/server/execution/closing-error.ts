import { A2AError } from '../../errors/a2a-error.js';

const RETRY_MS = 2_000;

/** The answer to callers while the server closes. */
export function closingError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server is shutting down', { retryAfterMs: RETRY_MS });
}
