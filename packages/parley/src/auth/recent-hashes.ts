import { sha256Hex } from '../runtime/sha256.js';
import { isSameText } from './same-text.js';

/** Hashes of tokens. Caches the last token of each connection with its hash, because most clients repeat one token. */
export class RecentHashes {
  readonly #last = new WeakMap<object, { readonly token: string; readonly sha256: string }>();

  /** The SHA-256 of a token, as hex digits. The cache is per connection. */
  of(token: string, connection: object | undefined): string | Promise<string> {
    const last = connection === undefined ? undefined : this.#last.get(connection);
    // Several callers may share a proxy's connection, so the comparison takes constant time.
    if (last !== undefined && isSameText(last.token, token)) return last.sha256;
    const sha256 = sha256Hex(token);
    if (connection !== undefined && typeof sha256 === 'string') this.#last.set(connection, { token, sha256 });
    return sha256;
  }
}
