import { sha256Hex } from '../runtime/sha256.js';
import { isSameText } from './same-text.js';

/** Hashes of tokens. Keeps the last token of each connection with its hash: most clients send one again and again. */
export class RecentHashes {
  readonly #last = new WeakMap<object, { readonly token: string; readonly sha256: string }>();

  /** The SHA-256 of a token, as hex digits. Only a request of the same connection finds what is kept for it. */
  of(token: string, connection: object | undefined): string | Promise<string> {
    const last = connection === undefined ? undefined : this.#last.get(connection);
    // Callers may share the connection of a proxy, so that the comparison takes the same time for all tokens.
    if (last !== undefined && isSameText(last.token, token)) return last.sha256;
    const sha256 = sha256Hex(token);
    if (connection !== undefined && typeof sha256 === 'string') this.#last.set(connection, { token, sha256 });
    return sha256;
  }
}
