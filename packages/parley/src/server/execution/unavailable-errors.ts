import { A2AError } from '../../errors/a2a-error.js';

const RETRY_MS = 2_000;

/** The answer to callers while the server closes. */
export function closingError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server is shutting down', { retryAfterMs: RETRY_MS });
}

/**
 * The answer to callers who have waited long enough for the storage. Their message or cancel may take effect all the
 * same.
 */
export function storageStalledError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server cannot store anything at present', { retryAfterMs: RETRY_MS });
}
