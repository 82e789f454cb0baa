import { isLegacy } from '../../operations/versions.js';
import type { ExchangeRequest } from '../http/exchange.js';
import { essence, JSON_TYPE, names } from '../http/media-type.js';

/** The JSON media type of the protocol (Spec §14.1.1). */
export const A2A_JSON_TYPE = 'application/a2a+json';

/** True if the server reads a body of this content type. */
export function isReadable(contentType: string | undefined): boolean {
  const type = essence(contentType);
  return type === JSON_TYPE || type === A2A_JSON_TYPE;
}

/**
 * The media type of an answer: the one that `Accept` names. If it names both or neither, that of the request's body, or
 * else that of the protocol. Versions before 1.0 have plain JSON only.
 */
export function answerType(request: ExchangeRequest, version: string): string {
  if (isLegacy(version)) return JSON_TYPE;
  const accept = request.header('accept');
  const plain = names(accept, JSON_TYPE);
  if (plain !== names(accept, A2A_JSON_TYPE)) return plain ? JSON_TYPE : A2A_JSON_TYPE;
  return essence(request.header('content-type')) === JSON_TYPE ? JSON_TYPE : A2A_JSON_TYPE;
}
