import type { AgentCardSignature } from '../../model/agent-card.js';
import type { CardSigningOptions } from './card-signing-options.js';
import { type SignerKeys, type SigningLibrary, signerKeys } from './private-keys.js';

/** Signs agent cards (Spec §8.4; JWS, RFC 7515), and publishes its public keys. */
export class CardSigner {
  readonly #library: SigningLibrary;
  readonly #keys: SignerKeys;
  readonly #jku: { readonly jku?: string };

  private constructor(library: SigningLibrary, keys: SignerKeys, jku: { readonly jku?: string }) {
    this.#library = library;
    this.#keys = keys;
    this.#jku = jku;
  }

  /**
   * Makes a signer with all private keys of the options. Loads `jose`.
   * @param jwksUrl The url of the published keys. Signatures name it if it is https.
   * @throws OptionsError naming every key that cannot be used.
   */
  static async of({ keys }: CardSigningOptions, jwksUrl: string): Promise<CardSigner> {
    const library = await signingLibrary();
    const own = await signerKeys(keys, { library, place: 'cardSigning.keys', subject: 'Card signing' });
    return new CardSigner(library, own, jwksUrl.startsWith('https:') ? { jku: jwksUrl } : {});
  }

  /** The public keys, those of earlier signatures included (RFC 7517). */
  get publicKeys(): readonly object[] {
    return this.#keys.published;
  }

  /** The signatures of all private keys over each payload. */
  async sign(payloads: readonly string[]): Promise<AgentCardSignature[]> {
    const signatures: AgentCardSignature[] = [];
    for (const payload of payloads) {
      for (const { key, alg, kid } of this.#keys.signing) {
        const jws = new this.#library.FlattenedSign(new TextEncoder().encode(payload));
        jws.setProtectedHeader({ alg, kid, typ: 'JOSE', ...this.#jku });
        const { protected: header = '', signature } = await jws.sign(key);
        signatures.push({ protected: header, signature });
      }
    }
    return signatures;
  }
}

/** A bundle has only these parts of the package. */
async function signingLibrary(): Promise<SigningLibrary> {
  const [signing, keys, thumbprints] = await Promise.all([
    import('jose/jws/flattened/sign'),
    import('jose/key/import'),
    import('jose/jwk/thumbprint'),
  ]);
  return { ...signing, ...keys, ...thumbprints };
}
