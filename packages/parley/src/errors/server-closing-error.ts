import { A2AError } from './a2a-error.js';

/** The answer to callers while the server closes: no fault, so that it is not logged as one. */
export class ServerClosingError extends A2AError {
  constructor(retryAfterMs: number) {
    super('UNAVAILABLE', 'The server is shutting down', { retryAfterMs });
  }
}
