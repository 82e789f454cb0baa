/** An agent that takes and gives files over HTTP beside the protocol. Parameters: `url` and `maxBytes`. */
export const FILES_EXTENSION = 'urn:parley-a2a:extension:files:v1';
