import type { HostExtension } from './host-extension.js';
import { jsonAnswer } from './json-answer.js';
import { readOnly } from './middleware/method-filter.js';

/** The public keys with which the host signs, at `/.well-known/jwks.json` (RFC 7517 §5). All callers may read them. */
export function keySetExtension(keys: readonly Readonly<Record<string, unknown>>[]): HostExtension {
  const answer = jsonAnswer({ status: 200, value: { keys }, headers: { 'cache-control': 'public, max-age=300' } });
  const exchange = readOnly(async () => answer);
  return { endpoints: () => [{ path: '/.well-known/jwks.json', exchange, access: 'open', without: ['start'] }] };
}
