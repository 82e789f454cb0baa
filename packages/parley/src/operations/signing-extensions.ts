/** The extension whose metadata hold the signatures of messages, artifacts and statuses. */
export const SIGNING_EXTENSION = 'urn:parley-a2a:extension:message-signing:v1';

/** The extension whose metadata mark encrypted parts. */
export const ENCRYPTION_EXTENSION = 'urn:parley-a2a:extension:message-encryption:v1';
