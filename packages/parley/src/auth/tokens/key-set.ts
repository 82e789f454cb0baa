import type * as Jose from 'jose';
import { isObject } from '../../model/json.js';

/** Finds the keys that may have signed a token. */
export interface TokenKeys {
  /**
   * The candidates for a header; several if the header names no key. Empty: the token is signed by no known key. Keys
   * are read only if `mayRead` returns true.
   * @throws A2AError with the code UNAVAILABLE if the keys cannot be read now.
   */
  find(header: Jose.ProtectedHeaderParameters, mayRead: () => boolean): FoundKeys | Promise<FoundKeys>;
}

/** The candidates for a token. They come without a promise if they are known already. */
export type FoundKeys = readonly Jose.CryptoKey[];

/** Maximum number of keys to try for a token without a key id. */
const MOST_CANDIDATES = 4;
const MOST_KEYS = 100;
/** Maximum length of a number in a key: 8,192 bits in base64url. A larger key makes each check too slow. */
const LONGEST_NUMBER = 1_366;

/** Public keys (RFC 7517 §5). Other keys of a document, such as symmetric and expired ones, do not count. */
export class KeySet {
  /** Equal for equal key sets. */
  readonly text: string;
  readonly #find: Jose.LocalJWKSet;
  /** By algorithm and key id. Only keys of the document are here, so that its size is their bound. */
  readonly #known = new Map<string, FoundKeys>();

  private constructor(text: string, find: Jose.LocalJWKSet) {
    this.text = text;
    this.#find = find;
  }

  /**
   * Reads a document. `now` is in ms since the epoch.
   * @throws Error if the document is no key set, or has too many keys.
   */
  static read(document: unknown, { library, now }: { readonly library: typeof Jose; readonly now: number }): KeySet {
    if (!isObject(document) || !Array.isArray(document.keys)) throw new Error('the document is no key set');
    if (document.keys.length > MOST_KEYS) throw new Error(`the key set has more than ${MOST_KEYS} keys`);
    const keys = (document.keys as unknown[]).filter((key) => isUsable(key, now)) as Jose.JWK[];
    return new KeySet(JSON.stringify(keys), library.createLocalJWKSet({ keys }));
  }

  find(header: Jose.ProtectedHeaderParameters): FoundKeys | Promise<FoundKeys> {
    return this.known(header) ?? this.#importKeys(header);
  }

  /** The key that a header names, if a token has used it before. */
  known({ alg, kid }: Jose.ProtectedHeaderParameters): FoundKeys | undefined {
    return this.#known.get(`${alg} ${kid}`);
  }

  async #importKeys(header: Jose.ProtectedHeaderParameters): Promise<FoundKeys> {
    try {
      const found = [await this.#find(header as Jose.JWSHeaderParameters)];
      if (header.kid !== undefined) this.#known.set(`${header.alg} ${header.kid}`, found);
      return found;
    } catch (error) {
      return isIterable(error) ? await firstOf(error) : [];
    }
  }
}

function isUsable(key: unknown, now: number): boolean {
  if (!isObject(key) || !['RSA', 'EC', 'OKP'].includes(String(key.kty)) || key.d !== undefined) return false;
  if (key.revoked !== undefined || (typeof key.exp === 'number' && key.exp * 1000 <= now)) return false;
  const { n = '', e = '' } = key;
  return typeof n === 'string' && n.length <= LONGEST_NUMBER && typeof e === 'string' && e.length <= 8;
}

function isIterable(error: unknown): error is AsyncIterable<Jose.CryptoKey> {
  return typeof error === 'object' && error !== null && Symbol.asyncIterator in error;
}

async function firstOf(keys: AsyncIterable<Jose.CryptoKey>): Promise<readonly Jose.CryptoKey[]> {
  const found: Jose.CryptoKey[] = [];
  for await (const key of keys) {
    found.push(key);
    if (found.length === MOST_CANDIDATES) break;
  }
  return found;
}

/** The keys of a shared secret. Each is imported once, because an import takes as long as a check. */
export function secretKeys(secret: Uint8Array<ArrayBuffer>): TokenKeys {
  const keys = new Map<string, FoundKeys | Promise<FoundKeys>>();
  return {
    // The library has checked that the algorithm is allowed.
    find({ alg = '' }) {
      const known = keys.get(alg);
      if (known !== undefined) return known;
      const algorithm = { name: 'HMAC', hash: alg.replace('HS', 'SHA-') };
      const imported = crypto.subtle.importKey('raw', secret, algorithm, false, ['verify']).then((key) => {
        keys.set(alg, [key]);
        return [key];
      });
      keys.set(alg, imported);
      return imported;
    },
  };
}
