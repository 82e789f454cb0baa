import type { JsonObject } from '../model/json.js';
import { ENCRYPTION_EXTENSION, SIGNING_EXTENSION } from '../operations/signing-extensions.js';

/**
 * Extensions whose metadata is for one message or artifact only, such as signatures and keys. Content that is passed on
 * gets new metadata.
 */
const OF_ONE: readonly string[] = [SIGNING_EXTENSION, ENCRYPTION_EXTENSION];

/** The metadata that content may take over from other content. */
export function ownMetadata(metadata: JsonObject | undefined): JsonObject {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([uri]) => !OF_ONE.includes(uri)));
}

/** The extensions that content may take over from other content. */
export function ownExtensions(extensions: readonly string[]): readonly string[] {
  return extensions.filter((uri) => !OF_ONE.includes(uri));
}
