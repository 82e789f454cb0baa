/**
 * The agent receives and serves files over HTTP beside the protocol. Parameters: `url`, `maxBytes`, and `resumable` if
 * it accepts uploads in several requests.
 */
export const FILES_EXTENSION = 'urn:parley-a2a:extension:files:v1';

/** The version of the tus protocol (https://tus.io) for uploads in several requests, which `resumable` declares. */
export const TUS_VERSION = '1.0.0';
