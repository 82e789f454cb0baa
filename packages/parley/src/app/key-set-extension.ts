import type { HostExtension } from './host-extension.js';
import { jsonAnswer } from './json-answer.js';
import { readOnly } from './middleware/method-filter.js';

/** The path of the public keys below the public url. */
export const KEY_SET_PATH = '/.well-known/jwks.json';

/** Public keys of one use, or the function that loads them. */
export type PublishedKeys = readonly object[] | (() => Promise<readonly object[]>);

/** The public keys with which the host signs (RFC 7517 §5), of all uses in one set. All callers may read them. */
export function keySetExtension(sources: readonly PublishedKeys[]): HostExtension {
  const exchange = readOnly(async () => {
    const sets = await Promise.all(sources.map((source) => (typeof source === 'function' ? source() : source)));
    return jsonAnswer({
      status: 200,
      value: { keys: sets.flat() },
      headers: { 'cache-control': 'public, max-age=300' },
    });
  });
  return { endpoints: () => [{ path: KEY_SET_PATH, exchange, access: 'open', without: ['start'] }] };
}
