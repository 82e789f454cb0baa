import type * as Jose from 'jose';
import { isObject } from '../../model/json.js';
import { KeySets, type KeySetsOptions } from './key-sets.js';
import type { SignatureTrust, SignatureVerdict } from './signature-trust.js';
import { type SignatureOrigin, TrustedKeys } from './trusted-keys.js';

/** The signatures of a card, and the texts that they may cover. */
interface SignedTexts {
  readonly payloads: readonly string[];
  readonly signatures: readonly unknown[];
}

/** Algorithms of public keys only. With a shared secret, every verifier could sign. */
const ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
];
/** A card with more signatures is an attack on its reader. */
const MOST_SIGNATURES = 16;

/** Ports for fetching key sets. */
export type VerifierRuntime = Omit<KeySetsOptions, 'library'>;

/** Verifies the signatures of cards (Spec §8.4.3; JWS, RFC 7515). */
export class SignatureVerifier {
  readonly #library: typeof Jose;
  readonly #keys: TrustedKeys;

  private constructor(library: typeof Jose, keys: TrustedKeys) {
    this.#library = library;
    this.#keys = keys;
  }

  /**
   * Creates a verifier.
   * @throws OptionsError if the trust names no signer.
   */
  static async trusting(trust: SignatureTrust, runtime: VerifierRuntime): Promise<SignatureVerifier> {
    const library = await import('jose');
    const sets = new KeySets({ library, ...runtime });
    return new SignatureVerifier(library, new TrustedKeys(trust, { library, sets }));
  }

  /** Verifies the signatures in order, up to the first valid one, which is then the last of the list. */
  async verify({ payloads, signatures }: SignedTexts, origin: SignatureOrigin): Promise<readonly SignatureVerdict[]> {
    const encoded = payloads.map((payload) => this.#library.base64url.encode(payload));
    const verdicts: SignatureVerdict[] = [];
    for (const signature of signatures.slice(0, MOST_SIGNATURES)) {
      const verdict = await this.#verdict(signature, encoded, origin);
      verdicts.push(verdict);
      if (verdict.fault === undefined) break;
    }
    return verdicts;
  }

  async #verdict(entry: unknown, payloads: readonly string[], origin: SignatureOrigin): Promise<SignatureVerdict> {
    const { protected: header, signature } = isObject(entry) ? entry : {};
    if (typeof header !== 'string' || typeof signature !== 'string')
      return { fault: 'it has no protected header or no signature' };
    let named: Jose.ProtectedHeaderParameters;
    try {
      named = this.#library.decodeProtectedHeader({ protected: header });
    } catch {
      return { fault: 'its protected header cannot be read' };
    }
    const { kid, alg, jku } = named;
    const names = { ...(typeof kid === 'string' && { kid }), ...(typeof alg === 'string' && { alg }) };
    if (typeof kid !== 'string' || kid === '') return { ...names, fault: 'it names no key (kid)' };
    if (typeof alg !== 'string' || !ALGORITHMS.includes(alg))
      return { ...names, fault: 'its algorithm is not accepted' };
    try {
      const keys = await this.#keys.keysFor({ kid, alg, jku: typeof jku === 'string' ? jku : undefined }, origin);
      for (const key of keys)
        for (const payload of payloads)
          if (await this.#isBy(key, { payload, protected: header, signature })) return names;
      return { ...names, fault: 'it is not over this card, or not by this key' };
    } catch (error) {
      origin.signal?.throwIfAborted();
      return { ...names, fault: error instanceof Error ? error.message : String(error) };
    }
  }

  async #isBy(key: Jose.CryptoKey, jws: Jose.FlattenedJWSInput): Promise<boolean> {
    try {
      await this.#library.flattenedVerify(jws, key, { algorithms: ALGORITHMS });
      return true;
    } catch (error) {
      // A key that does not fit the algorithm causes a TypeError.
      if (error instanceof this.#library.errors.JWSSignatureVerificationFailed || error instanceof TypeError)
        return false;
      throw error;
    }
  }
}
