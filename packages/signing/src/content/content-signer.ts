import type * as Jose from 'jose';
import type { JsonObject } from 'parley-a2a';
import { isObject, SIGNING_EXTENSION, type SignerKeys, signerKeys } from 'parley-a2a/kit';
import type { CardJwk } from 'parley-a2a/server';
import { SIGNED_TYPES, type SignatureEntry, type SignedClaims } from './signature-header.js';

/** Content to sign. */
interface ContentToSign {
  readonly type: keyof typeof SIGNED_TYPES;
  /** The canonical text. */
  readonly text: string;
  readonly claims: SignedClaims;
}

/** Signs canonical texts with all private keys of a signer. */
export class ContentSigner {
  /** The public keys, those of earlier signatures included (RFC 7517). */
  readonly publicKeys: readonly object[];
  readonly #library: typeof Jose;
  readonly #keys: SignerKeys;

  private constructor(library: typeof Jose, keys: SignerKeys) {
    this.#library = library;
    this.#keys = keys;
    this.publicKeys = keys.published;
  }

  /** The ids of the keys that sign. */
  get kids(): readonly string[] {
    return this.#keys.signing.map(({ kid }) => kid);
  }

  /** @throws OptionsError naming every key that cannot be used. */
  static async of(subject: string, keys: readonly CardJwk[], library: typeof Jose): Promise<ContentSigner> {
    return new ContentSigner(library, await signerKeys(keys, { library, place: 'keys', subject }));
  }

  /** The header of a signature, which is not verified. Undefined if it cannot be read. */
  headerOf(encoded: string): Readonly<Record<string, unknown>> | undefined {
    try {
      const header: unknown = this.#library.decodeProtectedHeader({ protected: encoded });
      return isObject(header) ? header : undefined;
    } catch {
      return undefined;
    }
  }

  /** The metadata of the extension with one signature for each key. */
  async sign({ type, text, claims }: ContentToSign): Promise<JsonObject> {
    const payload = new TextEncoder().encode(text);
    const signatures: (SignatureEntry & JsonObject)[] = [];
    for (const { key, alg, kid } of this.#keys.signing) {
      const header = { alg, kid, typ: SIGNED_TYPES[type], ...claims };
      const jws = await new this.#library.FlattenedSign(payload).setProtectedHeader(header).sign(key);
      signatures.push({ protected: jws.protected ?? '', signature: jws.signature });
    }
    return { [SIGNING_EXTENSION]: { signatures } };
  }
}
