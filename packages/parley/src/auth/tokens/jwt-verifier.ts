import type * as Jose from 'jose';
import { isObject } from '../../model/json.js';
import type { Clock } from '../../runtime/clock.js';
import type { TokenKeys } from './key-set.js';
import type { TokenClaims } from './token-claims.js';

/** Rules of a verifier, complete. */
export interface JwtVerifierOptions {
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

/** The result of a check: the claims of a valid token, or the fault of another one, for the log. */
export type TokenVerdict = { readonly claims: TokenClaims } | { readonly fault: string };

/** Headers that would give a token another meaning: JWE, unencoded and critical members (RFC 7515, RFC 7516). */
const REFUSED_HEADERS = ['crit', 'b64', 'enc', 'zip', 'epk'];
const LONGEST_KEY_ID = 1_024;

/**
 * Verifies signed tokens (RFC 7519 §7.2). The rules come from the server only. Keys and addresses in the header of a
 * token, such as `jwk` and `jku`, are not read.
 */
export class JwtVerifier {
  readonly #options: JwtVerifierOptions;
  readonly #rules: Jose.JWTVerifyOptions;

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
    const { library, keys, clock } = this.#options;
    const header = this.#header(token);
    if (typeof header === 'string') return { fault: header };
    const candidates = await keys.find(header);
    const rules = { ...this.#rules, currentDate: new Date(clock.now()) };
    let fault = 'no key fits the token';
    for (const key of candidates) {
      try {
        const { payload } = await library.jwtVerify(token, key, rules);
        // A token that is bound to a key of its owner is no bearer token (RFC 9449 §7.1, RFC 8705 §3).
        return payload.cnf === undefined ? { claims: payload } : { fault: 'the token is bound to a key' };
      } catch (error) {
        fault = faultOf(error);
      }
    }
    return { fault };
  }

  /** The header, or the fault of a token that no key could make valid. Costs no signature check and no request. */
  #header(token: string): Jose.ProtectedHeaderParameters | string {
    const { library, algorithms, types, issuer } = this.#options;
    if (token.split('.', 4).length !== 3) return 'the token is no signed JWT';
    let header: Jose.ProtectedHeaderParameters;
    let named: unknown;
    try {
      header = library.decodeProtectedHeader(token);
      named = library.decodeJwt(token).iss;
    } catch {
      return 'the token cannot be read';
    }
    const { alg, kid, typ, cty } = header;
    if (typeof alg !== 'string' || !algorithms.includes(alg)) return 'the algorithm is not allowed';
    const refused = REFUSED_HEADERS.find((name) => Object.hasOwn(header, name));
    if (refused !== undefined) return `the header ${refused} is not allowed`;
    if (cty !== undefined && String(cty).toLowerCase() === 'jwt') return 'the token is nested';
    if (kid !== undefined && (typeof kid !== 'string' || kid.length > LONGEST_KEY_ID)) return 'the key id is no text';
    const type = typ === undefined ? '' : String(typ).toLowerCase();
    if (!types.includes(type.replace(/^application\//, ''))) return 'the type of the token is not allowed';
    return named === issuer ? header : 'the token is of another issuer';
  }
}

/** The texts of the library are fixed. They hold nothing of the token. */
function faultOf(error: unknown): string {
  const { code, message } = isObject(error) ? error : {};
  return typeof code === 'string' && code.startsWith('ERR_J') ? String(message) : 'the key cannot check the token';
}
