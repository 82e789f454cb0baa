import { isLegacy } from '../../operations/versions.js';
import type { ExchangeRequest } from '../http/exchange.js';
import { essence, JSON_TYPE, names } from '../http/media-type.js';

/** JSON of the protocol (spec §14.1.1). */
export const A2A_JSON_TYPE = 'application/a2a+json';

/** Whether a body of this content type is read. */
export function isReadable(contentType: string | undefined): boolean {
  const type = essence(contentType);
  return type === JSON_TYPE || type === A2A_JSON_TYPE;
}

/**
 * The media type of an answer: the one that `Accept` names; when it names both or neither, that of the request's body, or
 * else the protocol's own. Versions before 1.0 know plain JSON only.
 */
export function answerType(request: ExchangeRequest, version: string): string {
  if (isLegacy(version)) return JSON_TYPE;
  const accept = request.header('accept');
  const plain = names(accept, JSON_TYPE);
  if (plain !== names(accept, A2A_JSON_TYPE)) return plain ? JSON_TYPE : A2A_JSON_TYPE;
  return essence(request.header('content-type')) === JSON_TYPE ? JSON_TYPE : A2A_JSON_TYPE;
}
