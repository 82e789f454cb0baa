import type { Exchange } from '../bindings/http/exchange.js';
import { publicKeyOf, type SigningKey } from '../push/signing-keys.js';
import { jsonAnswer } from './json-answer.js';
import { readOnly } from './middleware/method-filter.js';

/** Answers with the public halves of keys (RFC 7517 §5). */
export function keySetExchange(keys: readonly SigningKey[]): Exchange {
  const value = { keys: keys.map(publicKeyOf) };
  const answer = jsonAnswer({ status: 200, value, headers: { 'cache-control': 'public, max-age=300' } });
  return readOnly(async () => answer);
}
