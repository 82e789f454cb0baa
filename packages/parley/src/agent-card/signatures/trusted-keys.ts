import type * as Jose from 'jose';
import { OptionsError } from '../../errors/options-error.js';
import type { KeySets } from './key-sets.js';
import type { NamedKey, PublicJwk, SignatureTrust, VerificationKey } from './signature-trust.js';

/** The members of a protected header that identify a key. */
interface KeyHeader {
  readonly kid: string;
  readonly alg: string;
  readonly jku?: string | undefined;
}

/** The origin of a signature. */
export interface SignatureOrigin {
  /** The url of the card. Undefined for a card that was given as an object. */
  readonly url: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The trusted keys of the caller, and those of allowed key sets. */
export class TrustedKeys {
  readonly #library: typeof Jose;
  readonly #sets: KeySets;
  readonly #local: Jose.LocalJWKSet;
  readonly #named: readonly NamedKey[];
  readonly #origins: readonly string[];

  /** @throws OptionsError if the trust names no key and no origin, or an invalid one. */
  constructor(trust: SignatureTrust, { library, sets }: { readonly library: typeof Jose; readonly sets: KeySets }) {
    this.#library = library;
    this.#sets = sets;
    const keys = listOf(trust.keys ?? []);
    this.#origins = trust.jwksOrigins ?? [];
    const problems = problemsOf(keys, this.#origins);
    if (problems.length > 0) throw new OptionsError('signatures', problems);
    this.#local = library.createLocalJWKSet({ keys: keys.filter(isJwk) as Jose.JWK[] });
    this.#named = keys.filter((key): key is NamedKey => !isJwk(key));
  }

  /**
   * The possible keys of a signature: those that the caller gave under the `kid`, else those of the key set that the
   * signature names.
   * @throws Error that gives the reason if there is none.
   */
  async keysFor(header: KeyHeader, origin: SignatureOrigin): Promise<readonly VerificationKey[]> {
    const named = this.#named.filter(({ kid }) => kid === header.kid).map(({ key }) => key);
    const given = [...(await this.#matching(this.#local, header)), ...named];
    if (given.length > 0) return given;
    if (header.jku === undefined) throw new Error('no trusted key has this kid and algorithm');
    const address = this.#requireAllowed(header.jku, origin.url);
    const found = await this.#matching(this.#sets.at(address, origin.signal), header).catch((cause: unknown) => {
      throw new Error(`the key set at ${address} cannot be used: ${cause instanceof Error ? cause.message : cause}`);
    });
    if (found.length === 0) throw new Error(`the key set at ${address} has no valid key of this kid and algorithm`);
    return found;
  }

  /**
   * Checks an address before anything is fetched: the author of a card must not choose which hosts its reader calls.
   */
  #requireAllowed(jku: string, card: string | undefined): string {
    const url = URL.parse(jku);
    const allowed = this.#origins.map((origin) => originOf(origin === 'card' ? card : origin));
    if (url?.protocol !== 'https:')
      throw new Error('no trusted key has this kid, and the url of its key set is not https');
    if (allowed.includes(url.origin)) return url.href;
    throw new Error(`no trusted key has this kid, and key sets are not fetched from ${url.origin}`);
  }

  async #matching(
    set: (header: Jose.JWSHeaderParameters) => Promise<VerificationKey>,
    { kid, alg }: KeyHeader,
  ): Promise<VerificationKey[]> {
    const { errors } = this.#library;
    try {
      return [await set({ kid, alg })];
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return [];
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      const all: VerificationKey[] = [];
      for await (const key of error) all.push(key);
      return all;
    }
  }
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.origin;
}

function listOf(keys: NonNullable<SignatureTrust['keys']>): readonly (PublicJwk | NamedKey)[] {
  return 'length' in keys ? keys : keys.keys;
}

function isJwk(key: PublicJwk | NamedKey): key is PublicJwk {
  return 'kty' in key;
}

function problemsOf(keys: readonly (PublicJwk | NamedKey)[], origins: readonly string[]): string[] {
  const problems = keys.flatMap((key, at) => {
    const isPublic = isJwk(key) ? key.kty !== 'oct' && !('d' in key) : key.key?.type === 'public';
    return [
      ...(typeof key.kid === 'string' && key.kid !== ''
        ? []
        : [`keys[${at}] needs a kid, by which signatures name it`]),
      ...(isPublic ? [] : [`keys[${at}] has to be a public key`]),
    ];
  });
  for (const origin of origins)
    if (origin !== 'card' && URL.parse(origin)?.protocol !== 'https:')
      problems.push(`jwksOrigins holds https origins or "card", not ${JSON.stringify(origin)}`);
  if (keys.length === 0 && origins.length === 0) problems.push('name the keys that you trust, by keys or jwksOrigins');
  return problems;
}
