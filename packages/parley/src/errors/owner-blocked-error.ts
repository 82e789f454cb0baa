import { A2AError } from './a2a-error.js';

const RETRY_MS = 5_000;

/** The data of a user are being erased. Until that ends, nothing new of the user is stored. */
export class OwnerBlockedError extends A2AError {
  constructor() {
    super('UNAVAILABLE', 'The data of this user are being erased. Send the message again when that has ended', {
      retryAfterMs: RETRY_MS,
    });
  }
}
