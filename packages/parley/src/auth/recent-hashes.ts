import { sha256Hex } from '../runtime/sha256.js';
import { isSameText } from './same-text.js';

/**
 * Hashes of keys and tokens. Keeps the last key of each connection with its hash: most clients send one key again and
 * again.
 */
export class RecentHashes {
  readonly #last = new WeakMap<object, { readonly key: string; readonly sha256: string }>();

  /** The SHA-256 of a key, as hex digits. Only a request of the same connection finds what is kept for it. */
  of(key: string, connection: object | undefined): string | Promise<string> {
    const last = connection === undefined ? undefined : this.#last.get(connection);
    // Callers may share the connection of a proxy, so that the comparison takes the same time for all keys.
    if (last !== undefined && isSameText(last.key, key)) return last.sha256;
    const sha256 = sha256Hex(key);
    if (connection !== undefined && typeof sha256 === 'string') this.#last.set(connection, { key, sha256 });
    return sha256;
  }
}
