import type * as Jose from 'jose';
import { OptionsError } from '../../errors/options-error.js';
import type { CardJwk } from './card-signing-options.js';

/** A key that signs, with its name and algorithm. */
interface PrivateKey {
  readonly key: Jose.CryptoKey;
  readonly kid: string;
  readonly alg: string;
}

/** The parts of `jose` that sign. */
export type SigningLibrary = Pick<typeof Jose, 'FlattenedSign' | 'importJWK' | 'calculateJwkThumbprint'>;

/** A key as a member of the published set. */
type PublishedJwk = Jose.JWK & { readonly kid: string; readonly alg: string };

/** The keys of a signer. */
export interface SignerKeys {
  readonly signing: readonly PrivateKey[];
  /** The public keys, those of earlier signatures included (RFC 7517). */
  readonly published: readonly PublishedJwk[];
}

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

/**
 * Imports the keys of a signer. Each private key signs once, so that a key that cannot sign is found at the start.
 * @param place The name of the list in errors.
 * @throws OptionsError naming every key that cannot be used, or that there is no private key.
 */
export async function signerKeys(
  keys: readonly CardJwk[],
  { library, place, subject }: { readonly library: SigningLibrary; readonly place: string; readonly subject: string },
): Promise<SignerKeys> {
  const problems: string[] = [];
  const published: PublishedJwk[] = [];
  const signing: PrivateKey[] = [];
  for (const [at, jwk] of keys.entries()) {
    try {
      const own = await publicPart(jwk, library);
      if (published.some(({ kid }) => kid === own.kid)) throw new Error('has the kid of another key');
      published.push(own);
      const key = await library.importJWK(jwk.d === undefined ? own : ({ ...jwk, alg: own.alg } as Jose.JWK), own.alg);
      if (jwk.d === undefined) continue;
      const made = { key: key as Jose.CryptoKey, kid: own.kid, alg: own.alg };
      await new library.FlattenedSign(new Uint8Array()).setProtectedHeader({ alg: made.alg }).sign(made.key);
      signing.push(made);
    } catch (error) {
      problems.push(`${place}[${at}] ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
  }
  if (problems.length === 0 && signing.length === 0) problems.push(`${place} needs a private key`);
  if (problems.length > 0) throw new OptionsError(subject, problems);
  return { signing, published };
}

async function publicPart(jwk: CardJwk, library: SigningLibrary): Promise<PublishedJwk> {
  const members = PUBLIC_MEMBERS[jwk.kty];
  const known = ALGORITHMS[jwk.kty] ?? ALGORITHMS[`${jwk.kty} ${jwk.crv}`];
  if (members === undefined || known === undefined) throw new Error('is no EC, Ed25519 or RSA key');
  const { alg = known[0] ?? '', kid } = jwk;
  if (!known.includes(alg)) throw new Error(`cannot sign with ${alg}; it can with ${known.join(', ')}`);
  const bare = Object.fromEntries(members.map((name) => [name, jwk[name]])) as Jose.JWK;
  const named = kid === undefined || kid === '' ? await library.calculateJwkThumbprint(bare) : kid;
  return { ...bare, kid: named, alg, use: 'sig' };
}
