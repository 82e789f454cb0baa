import type * as Jose from 'jose';
import { missingPackage } from '../../errors/missing-package.js';
import { OptionsError } from '../../errors/options-error.js';
import type { AgentCardSignature } from '../../model/agent-card.js';
import type { CardJwk, CardSigningOptions } from './card-signing-options.js';

/** A key that signs, with the header of its signatures. */
interface SigningKey {
  readonly key: Jose.CryptoKey;
  readonly header: Jose.JWSHeaderParameters;
}

/** A key as a member of the published set. */
type PublishedJwk = Jose.JWK & { readonly kid: string; readonly alg: string };

/** The members of a public key, by type (RFC 7518 §6, RFC 8037 §2). All others are private or not needed. */
const PUBLIC_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  EC: ['kty', 'crv', 'x', 'y'],
  OKP: ['kty', 'crv', 'x'],
  RSA: ['kty', 'n', 'e'],
};

/** The algorithms of each kind of key. The first one is the default. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  'EC P-256': ['ES256'],
  'EC P-384': ['ES384'],
  'EC P-521': ['ES512'],
  'OKP Ed25519': ['EdDSA', 'Ed25519'],
  RSA: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
};

/** Signs agent cards (Spec §8.4; JWS, RFC 7515), and publishes its public keys. */
export class CardSigner {
  /** The public keys, those of earlier signatures included (RFC 7517). */
  readonly publicKeys: readonly object[];
  readonly #library: typeof Jose;
  readonly #keys: readonly SigningKey[];

  private constructor(library: typeof Jose, keys: readonly SigningKey[], published: readonly PublishedJwk[]) {
    this.#library = library;
    this.#keys = keys;
    this.publicKeys = published;
  }

  /**
   * Makes a signer with all private keys of the options. Loads `jose`.
   * @param jwksUrl The url of the published keys. Signatures name it if it is https.
   * @throws OptionsError naming every key that cannot be used.
   */
  static async of({ keys }: CardSigningOptions, jwksUrl: string): Promise<CardSigner> {
    const library = await import('jose').catch(missingPackage('Signatures of agent cards need', 'jose'));
    const problems: string[] = [];
    const published: PublishedJwk[] = [];
    const signing: SigningKey[] = [];
    for (const [at, jwk] of keys.entries()) {
      try {
        const own = await publicPart(jwk, library);
        if (published.some(({ kid }) => kid === own.kid)) throw new Error('has the kid of another key');
        published.push(own);
        const key = await library.importJWK(
          jwk.d === undefined ? own : ({ ...jwk, alg: own.alg } as Jose.JWK),
          own.alg,
        );
        if (jwk.d === undefined) continue;
        const jku = jwksUrl.startsWith('https:') ? { jku: jwksUrl } : {};
        const header = { alg: own.alg, kid: own.kid, typ: 'JOSE', ...jku };
        signing.push({ key: key as Jose.CryptoKey, header });
        // A key that cannot sign is found at the start.
        await signature(library, signing.at(-1) as SigningKey, '{}');
      } catch (error) {
        problems.push(`cardSigning.keys[${at}] ${error instanceof Error ? error.message : 'cannot be read'}`);
      }
    }
    if (problems.length === 0 && signing.length === 0) problems.push('cardSigning.keys needs a private key');
    if (problems.length > 0) throw new OptionsError('Card signing', problems);
    return new CardSigner(library, signing, published);
  }

  /** The signatures of all private keys over each payload. */
  async sign(payloads: readonly string[]): Promise<AgentCardSignature[]> {
    const signatures: AgentCardSignature[] = [];
    for (const payload of payloads)
      for (const key of this.#keys) signatures.push(await signature(this.#library, key, payload));
    return signatures;
  }
}

async function signature(
  library: typeof Jose,
  { key, header }: SigningKey,
  payload: string,
): Promise<AgentCardSignature> {
  const jws = new library.FlattenedSign(new TextEncoder().encode(payload)).setProtectedHeader(header);
  const { protected: named = '', signature: value } = await jws.sign(key);
  return { protected: named, signature: value };
}

async function publicPart(jwk: CardJwk, library: typeof Jose): Promise<PublishedJwk> {
  const members = PUBLIC_MEMBERS[jwk.kty];
  const known = ALGORITHMS[jwk.kty] ?? ALGORITHMS[`${jwk.kty} ${jwk.crv}`];
  if (members === undefined || known === undefined) throw new Error('is no EC, Ed25519 or RSA key');
  const { alg = known[0] ?? '', kid } = jwk;
  if (!known.includes(alg)) throw new Error(`cannot sign with ${alg}; it can with ${known.join(', ')}`);
  const bare = Object.fromEntries(members.map((name) => [name, jwk[name]])) as Jose.JWK;
  const named = kid === undefined || kid === '' ? await library.calculateJwkThumbprint(bare) : kid;
  return { ...bare, kid: named, alg, use: 'sig' };
}
