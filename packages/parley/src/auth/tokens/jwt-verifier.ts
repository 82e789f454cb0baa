import type * as Jose from 'jose';
import { A2AError } from '../../errors/a2a-error.js';
import { isObject } from '../../model/json.js';
import { fromBase64Url } from '../../runtime/base64-bytes.js';
import type { Clock } from '../../runtime/clock.js';
import type { FoundKeys, TokenKeys } from './key-set.js';
import { hasRepeatedMember } from './repeated-members.js';
import type { TokenClaims, TokenVerdict } from './token-claims.js';

/** Rules of a verifier, complete. */
interface JwtVerifierOptions {
  readonly library: typeof Jose;
  readonly keys: TokenKeys;
  readonly issuer: string;
  readonly audience: string | readonly string[];
  readonly algorithms: readonly string[];
  readonly types: readonly string[];
  readonly requiredClaims: readonly string[];
  readonly toleranceSeconds: number;
  readonly clock: Clock;
}

/** Headers that would give a token another meaning: JWE, unencoded and critical members (RFC 7515, RFC 7516). */
const REFUSED_HEADERS = ['crit', 'b64', 'enc', 'zip', 'epk'];
const LONGEST_KEY_ID = 1_024;
const NOT_ASCII = /[\x80-\xff]/;
const NO_KEY = 'no key fits the token';

/** A fault that is found before the signature is checked. */
class EarlyFault extends Error {}

/**
 * Verifies signed tokens (RFC 7519 §7.2). The rules come from the server only. Keys and addresses in the header of a
 * token, such as `jwk` and `jku`, are not read.
 */
export class JwtVerifier {
  readonly #options: JwtVerifierOptions;
  readonly #rules: Jose.JWTVerifyOptions;
  /** The header part of the last valid token. The tokens of an issuer mostly share it. */
  #validHeader = '';

  constructor(options: JwtVerifierOptions) {
    this.#options = options;
    const { issuer, audience, algorithms, requiredClaims, toleranceSeconds } = options;
    this.#rules = {
      issuer,
      audience: typeof audience === 'string' ? audience : [...audience],
      algorithms: [...algorithms],
      requiredClaims: ['exp', ...requiredClaims],
      clockTolerance: toleranceSeconds,
    };
  }

  /** @throws A2AError with the code UNAVAILABLE if the keys cannot be read now. */
  async verify(token: string): Promise<TokenVerdict> {
    const parts = token.split('.', 4);
    // Padding is not part of a JWT (RFC 7515 §2): with it, one token would have many spellings.
    if (parts.length !== 3 || token.endsWith('=')) return { fault: 'the token is no signed JWT' };
    const [header = '', payload = ''] = parts;
    const isHeaderKnown = header === this.#validHeader;
    let others: readonly Jose.CryptoKey[] = [];
    const take = ([key, ...rest]: FoundKeys): Jose.CryptoKey => {
      if (key === undefined) throw new EarlyFault(NO_KEY);
      others = rest;
      return key;
    };
    const first = await this.#verdict(token, (members) => {
      const fault = isHeaderKnown ? undefined : headerFault(members, this.#options.types);
      if (fault !== undefined) throw new EarlyFault(fault);
      // No request for keys if no key could make the token valid.
      const found = this.#options.keys.find(members, () => this.#isOfIssuer(token));
      return found instanceof Promise ? found.then(take) : take(found);
    });
    let verdict = first;
    // The token names no key, so each candidate is tried.
    for (const key of others) {
      if ('claims' in verdict) break;
      verdict = await this.#verdict(token, () => key);
    }
    if ('fault' in verdict) return first;
    // With a repeated member, two readers could read two different tokens (RFC 7519 §4, RFC 7515 §4).
    if ((!isHeaderKnown && hasRepeatedMember(textOf(header))) || isAmbiguous(textOf(payload), verdict.claims)) {
      return { fault: 'the token has a member twice' };
    }
    this.#validHeader = header;
    return verdict;
  }

  #verdict(
    token: string,
    key: (header: Jose.ProtectedHeaderParameters) => Promise<Jose.CryptoKey> | Jose.CryptoKey,
  ): Promise<TokenVerdict> {
    const { library, clock } = this.#options;
    const rules = { ...this.#rules, currentDate: new Date(clock.now()) };
    return library.jwtVerify(token, key, rules).then(claimsOf, faultOf);
  }

  #isOfIssuer(token: string): boolean {
    try {
      return this.#options.library.decodeJwt(token).iss === this.#options.issuer;
    } catch {
      return false;
    }
  }
}

/** A text that serializes to itself has no repeated member. That check is faster than a search. */
function isAmbiguous(json: string, claims: TokenClaims): boolean {
  return JSON.stringify(claims) !== json && hasRepeatedMember(json);
}

/** A text of ASCII is its own UTF-8. */
function textOf(part: string): string {
  const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
  return NOT_ASCII.test(bytes) ? new TextDecoder().decode(fromBase64Url(part)) : bytes;
}

function headerFault(header: Jose.ProtectedHeaderParameters, types: readonly string[]): string | undefined {
  const { kid, typ, cty } = header;
  const refused = REFUSED_HEADERS.find((name) => header[name] !== undefined);
  if (refused !== undefined) return `the header ${refused} is not allowed`;
  if (cty !== undefined && mediaTypeOf(cty) === 'jwt') return 'the token is nested';
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > LONGEST_KEY_ID)) return 'the key id is no text';
  const type = typ === undefined ? '' : mediaTypeOf(typ);
  return type !== undefined && types.includes(type) ? undefined : 'the type of the token is not allowed';
}

/** A media type of a header in lower case, without `application/` (RFC 7515 §4.1.9); undefined if it is no text. */
function mediaTypeOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toLowerCase().replace(/^application\//, '') : undefined;
}

function claimsOf({ payload }: Jose.JWTVerifyResult): TokenVerdict {
  return { claims: payload };
}

/** The messages of the library are fixed and contain no part of the token. */
function faultOf(error: unknown): TokenVerdict {
  if (error instanceof A2AError) throw error;
  if (error instanceof EarlyFault) return { fault: error.message };
  const { code, message } = isObject(error) ? error : {};
  const isOfLibrary = typeof code === 'string' && code.startsWith('ERR_J');
  return { fault: isOfLibrary ? String(message) : 'the key cannot check the token' };
}
