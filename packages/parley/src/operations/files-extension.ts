/**
 * An agent that takes and gives files over HTTP beside the protocol. Parameters: `url`, `maxBytes`, and `resumable` if
 * it takes uploads in several requests.
 */
export const FILES_EXTENSION = 'urn:parley-a2a:extension:files:v1';

/** The version of the protocol of tus (https://tus.io) for uploads in several requests, as `resumable` tells it. */
export const TUS_VERSION = '1.0.0';
