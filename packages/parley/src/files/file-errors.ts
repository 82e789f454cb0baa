import { A2AError } from '../errors/a2a-error.js';

/** The error of a file beyond `maxBytes`. */
export function fileTooLarge(maxBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `The file is larger than ${maxBytes} bytes`, {
    metadata: { limit: 'maxBytes' },
  });
}

/** The error of a file for which the quota of its owner has no room. */
export function quotaReached(ownerBytes: number): A2AError {
  const message = `The files of this caller would have more than ${ownerBytes} bytes. Delete some of them`;
  return new A2AError('RESOURCE_EXHAUSTED', message, { metadata: { limit: 'ownerBytes' } });
}

/** The error of a store that has no room for any caller. */
export function storeFull(): A2AError {
  return new A2AError('RESOURCE_EXHAUSTED', 'The server has no room for more files. Try again later', {
    metadata: { limit: 'storeBytes' },
  });
}

/** The error of an upload that gets more bytes than its size. */
export function uploadTooLong(size: number): A2AError {
  return new A2AError('INVALID_REQUEST', `The upload has more than its ${size} bytes`);
}
