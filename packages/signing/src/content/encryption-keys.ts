import type * as Jose from 'jose';
import type { JsonObject } from 'parley-a2a';
import type { PublicJwk } from 'parley-a2a/client';
import { isObject, OptionsError, TokenDocuments, urlFault } from 'parley-a2a/kit';
import type { CardJwk } from 'parley-a2a/server';
import type { SigningRuntime } from './peer-keys.js';
import type { PeerKeySource } from './trusted-peer.js';

/** A public key for encrypting parts. */
export interface RecipientKey {
  readonly kid: string;
  readonly alg: string;
  readonly key: Jose.CryptoKey;
}

/** A key pair: others encrypt with its public key, and the private one decrypts. */
export interface OwnKey extends RecipientKey {
  readonly opens: Jose.CryptoKey;
  /** The public key, for others. */
  readonly shown: PublicJwk & JsonObject;
}

/** Algorithms that wrap the content key with a public key. None uses a password, and none is direct. */
export const WRAP_ALGORITHMS: readonly string[] = ['ECDH-ES+A256KW', 'RSA-OAEP-256'];

const CURVES = ['P-256', 'P-384', 'P-521', 'X25519'];
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e'];
/** Maximum length of a key member, in base64url: an RSA number of 8,192 bits. */
const LONGEST_MEMBER = 1_366;
/** An RSA number of 2,048 bits. */
const SHORTEST_RSA = 342;
const LONGEST_KID = 256;
const MOST_KEYS = 100;
const FRESH_MS = 600_000;
const COOLDOWN_MS = 30_000;

/**
 * Imports private keys. The public half of the first one is published.
 * @throws OptionsError naming every key that cannot be used.
 */
export async function ownKeys(
  subject: string,
  keys: readonly CardJwk[],
  library: typeof Jose,
): Promise<readonly OwnKey[]> {
  const problems: string[] = [];
  const own: OwnKey[] = [];
  for (const [at, jwk] of keys.entries()) {
    try {
      if (typeof jwk.d !== 'string') throw new Error('has to be a private key');
      const shown = await publicKey(jwk, library);
      if (own.some(({ kid }) => kid === shown.kid)) throw new Error('has the kid of another key');
      const opens = (await library.importJWK({ ...jwk, alg: shown.alg } as Jose.JWK, shown.alg)) as Jose.CryptoKey;
      own.push({ ...(await recipientKey(shown, library)), opens, shown });
    } catch (error) {
      problems.push(`encryption.keys[${at}] ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
  }
  if (keys.length === 0) problems.push('encryption.keys needs a private key');
  if (problems.length > 0) throw new OptionsError(subject, problems);
  return own;
}

/**
 * Imports a public key that a peer has sent.
 * @throws Error with the reason if it is none, or if it has a private part.
 */
export async function recipientKey(value: unknown, library: typeof Jose): Promise<RecipientKey> {
  if (!isObject(value) || 'd' in value || 'k' in value) throw new Error('must be a public key');
  const jwk = await publicKey(value, library);
  const key = (await library.importJWK(jwk as Jose.JWK, jwk.alg)) as Jose.CryptoKey;
  return { kid: jwk.kid, alg: jwk.alg, key };
}

/** The encryption keys of a recipient: given ones, or those at a url, cached for ten minutes. */
export class RecipientKeys {
  readonly #source: PeerKeySource;
  readonly #runtime: SigningRuntime;
  readonly #documents: TokenDocuments;
  #known: { readonly at: number; readonly key: Promise<RecipientKey> } | undefined;

  /** @throws OptionsError if the keys cannot be used. */
  constructor(subject: string, source: PeerKeySource, runtime: SigningRuntime) {
    const { keys, jwksUrl } = source;
    const fault = jwksUrl === undefined ? undefined : urlFault(jwksUrl, false);
    if ((keys === undefined) === (jwksUrl === undefined))
      throw new OptionsError(subject, ['encryption.to needs either keys or jwksUrl']);
    if (fault !== undefined) throw new OptionsError(subject, [`encryption.to.jwksUrl ${fault}`]);
    this.#source = source;
    this.#runtime = runtime;
    this.#documents = new TokenDocuments({ fetch: runtime.fetch, clock: runtime.clock, plainHttp: false });
  }

  /**
   * The key to encrypt with: the first one for encryption.
   * @throws Error if there is none, or if the key set cannot be read.
   */
  current(): Promise<RecipientKey> {
    const now = this.#runtime.clock.monotonic();
    if (this.#known === undefined || now - this.#known.at > FRESH_MS) {
      const key = this.#read();
      this.#known = { at: now, key };
      // A key set that could not be read is retried after a pause.
      key.catch(() => {
        this.#known = { at: now - FRESH_MS + COOLDOWN_MS, key };
      });
    }
    return this.#known.key;
  }

  async #read(): Promise<RecipientKey> {
    const { keys, jwksUrl } = this.#source;
    const document: unknown = jwksUrl === undefined ? { keys } : await this.#documents.read(jwksUrl);
    const listed = isObject(document)
      ? ((isObject(document.keys) ? document.keys.keys : document.keys) as unknown)
      : [];
    if (!Array.isArray(listed) || listed.length > MOST_KEYS) throw new Error('The document is no key set');
    const now = this.#runtime.clock.now() / 1_000;
    for (const key of listed as unknown[]) {
      if (!isObject(key) || (key.use !== undefined && key.use !== 'enc') || key.revoked !== undefined) continue;
      if (typeof key.exp === 'number' && key.exp <= now) continue;
      const usable = await recipientKey(key, this.#runtime.library).catch(() => undefined);
      if (usable !== undefined) return usable;
    }
    throw new Error('The agent has no key to encrypt with');
  }
}

async function publicKey(
  jwk: Readonly<Record<string, unknown>>,
  library: typeof Jose,
): Promise<PublicJwk & JsonObject & { readonly kid: string; readonly alg: string }> {
  const alg = algorithmOf(jwk);
  if (jwk.alg !== undefined && jwk.alg !== alg) throw new Error(`cannot be used with ${String(jwk.alg).slice(0, 40)}`);
  const members = PUBLIC_MEMBERS.flatMap((name) => (jwk[name] === undefined ? [] : [[name, jwk[name]] as const]));
  if (members.some(([, value]) => typeof value !== 'string' || value.length > LONGEST_MEMBER))
    throw new Error('has a member that is too long');
  const bare = Object.fromEntries(members) as PublicJwk & JsonObject;
  const { kid = await library.calculateJwkThumbprint(bare as Jose.JWK) } = jwk;
  if (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_KID)
    throw new Error(`must have a kid of at most ${LONGEST_KID} characters`);
  return { ...bare, kid, alg, use: 'enc' };
}

function algorithmOf({ kty, crv, n }: Readonly<Record<string, unknown>>): string {
  if ((kty === 'EC' || kty === 'OKP') && CURVES.includes(String(crv))) return 'ECDH-ES+A256KW';
  if (kty === 'RSA' && typeof n === 'string' && n.length >= SHORTEST_RSA) return 'RSA-OAEP-256';
  throw new Error('must be an EC or X25519 key, or an RSA key of 2,048 bits or more');
}
