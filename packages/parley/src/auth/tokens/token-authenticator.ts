import type { SecurityRequirement, SecurityScheme } from '../../model/security-scheme.js';
import { sha256Hex } from '../../runtime/sha256.js';
import { TransientMap } from '../../runtime/transient-map.js';
import {
  ANONYMOUS,
  type Authentication,
  type Authenticator,
  type Credentials,
  type ProtectedResource,
} from '../authenticator.js';
import { isSameText } from '../same-text.js';
import { insufficientScope, invalidToken, isToken, presentedToken, type Refusal } from './bearer-header.js';
import { reasonOf, unavailable } from './remote-keys.js';
import { bindingOf, CertificateBinding } from './token-binding.js';
import { missingScopes, type TokenClaims, type TokenVerdict, userOfClaims } from './token-claims.js';
import type { TokenOptions, TokenRuntime } from './token-options.js';
import { VerifiedTokens, type VerifiedUser } from './verified-tokens.js';

/** The differences between the authenticators for tokens. */
export interface TokenSchemeSetup {
  readonly options: TokenOptions;
  readonly runtime: TokenRuntime;
  readonly toleranceSeconds: number;
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  /** Makes the check of a token. Call `changed` when an earlier result may be wrong. */
  readonly check: (changed: () => void) => (token: string) => Promise<TokenVerdict>;
}

/** A verified token, or its refusal. */
type CheckedToken = VerifiedUser | Refusal;

/** A running check of a token. Calls after a revocation do not join it. */
interface RunningCheck {
  readonly generation: number;
  readonly found: Promise<CheckedToken>;
}

const LONGEST_TOKEN = 8_192;

/**
 * Finds the user of a bearer token (RFC 6750). A verified token is remembered by its hash until it expires, and at most
 * a minute. Concurrent calls with one token share one check. The token of a stream is checked again as often.
 */
export class TokenAuthenticator implements Authenticator {
  readonly challenges: readonly string[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly securityRequirements: readonly SecurityRequirement[];
  readonly optional: boolean;
  readonly protectedResource: ProtectedResource;
  readonly #setup: TokenSchemeSetup;
  /** The names of the schemes. */
  readonly #schemes: readonly string[];
  readonly #required: readonly string[];
  readonly #maxTokenBytes: number;
  readonly #check: (token: string) => Promise<TokenVerdict>;
  readonly #verified: VerifiedTokens;
  readonly #hashes = new RecentHashes();
  readonly #revocations = new Revocations();
  readonly #checks = new TransientMap<string, RunningCheck>();
  readonly #binding: CertificateBinding;

  constructor(setup: TokenSchemeSetup) {
    const { options, runtime, securitySchemes } = setup;
    this.#setup = setup;
    this.#required = options.requiredScopes ?? [];
    this.#maxTokenBytes = options.maxTokenBytes ?? LONGEST_TOKEN;
    this.#verified = new VerifiedTokens({ clock: runtime.clock, ...options.cache });
    this.#binding = new CertificateBinding(options.forwarded);
    this.#check = setup.check(() => this.#verified.clear());
    this.challenges = [this.#required.length === 0 ? 'Bearer' : `Bearer scope="${this.#required.join(' ')}"`];
    this.securitySchemes = securitySchemes;
    this.#schemes = Object.keys(securitySchemes);
    this.securityRequirements = this.#schemes.map((name) => ({
      schemes: { [name]: { list: this.#required } },
    }));
    this.optional = options.optional ?? false;
    this.protectedResource = { authorizationServers: [options.issuer], scopes: this.#required };
  }

  /** Rejects with an A2AError of the code UNAVAILABLE if the authorization server cannot be asked. */
  authenticate(credentials: Credentials): Authentication | Promise<Authentication> {
    const header = credentials.header('authorization');
    if (header === undefined) return ANONYMOUS;
    const token = presentedToken(header, this.#maxTokenBytes);
    if (typeof token !== 'string') return token;
    const hash = this.#hashes.of(token, credentials.connection);
    // Without a promise for a known token, on hosts with a synchronous hash.
    if (typeof hash === 'string') return this.#lookUp(token, hash, credentials);
    return hash.then((digest) => this.#lookUp(token, digest, credentials));
  }

  #lookUp(token: string, hash: string, credentials: Credentials): Authentication | Promise<Authentication> {
    const known = this.#verified.get(hash);
    if (known !== undefined) return this.#checkBinding(known, credentials);
    if (!isToken(token)) return invalidToken('malformed');
    return this.#startCheck(token, hash).then((found) => this.#checkBinding(found, credentials));
  }

  /** Checks the certificate on each call, because another client may have sent the token first. */
  #checkBinding(found: CheckedToken, credentials: Credentials): Authentication {
    if (found.kind !== 'user' || found.thumbprint === undefined) return found;
    return this.#binding.answer(found, credentials);
  }

  /**
   * Forgets the verified tokens of a user, or of all users, and ends their streams and waiting calls. The next call of
   * each is checked again. Call it when tokens are revoked, with `isRevoked` or introspection to refuse them.
   */
  revoke(userId?: string): void {
    this.#verified.clear(userId);
    this.#revocations.revoke(userId);
  }

  #startCheck(token: string, hash: string): Promise<CheckedToken> {
    const { generation } = this.#verified;
    const running = this.#checks.get(hash);
    if (running?.generation === generation) return running.found;
    const found = this.#authentication(token, hash, generation);
    this.#checks.set(hash, { generation, found });
    return found;
  }

  /** Starts with `await`, so that the check is in the map before it ends. */
  async #authentication(token: string, hash: string, generation: number): Promise<CheckedToken> {
    try {
      const checkedAt = this.#setup.runtime.clock.now();
      const verdict = await this.#check(token);
      if ('fault' in verdict) return invalidToken(verdict.fault);
      const found = this.#userOf(verdict.claims, checkedAt);
      if (found.kind !== 'user') return found;
      if (this.#setup.options.isRevoked !== undefined && (await this.#isRevoked(verdict.claims)))
        return invalidToken('revoked');
      const missing = missingScopes(found.user, this.#required);
      if (missing.length > 0) return insufficientScope(missing, this.#required);
      // A check that began before a revocation must not outlive it.
      if (generation !== this.#verified.generation) return await this.#startCheck(token, hash);
      this.#verified.add(hash, found, generation);
      return found;
    } finally {
      if (this.#checks.get(hash)?.generation === generation) this.#checks.delete(hash);
    }
  }

  /** The user of a valid token, or the refusal of a token without a subject or with a binding that is not known. */
  #userOf(claims: TokenClaims, checkedAt: number): CheckedToken {
    const binding = bindingOf(claims.cnf);
    if (binding !== undefined && 'fault' in binding) return invalidToken(binding.fault);
    const { options, toleranceSeconds } = this.#setup;
    const { issuer, claims: mapping = {} } = options;
    const user = userOfClaims(claims, { issuer, schemes: this.#schemes, mapping, toleranceSeconds });
    if (user === undefined) return invalidToken('the token names no subject');
    const askAgainAt = checkedAt + this.#verified.maxAgeMs;
    const revoked = this.#revocations.signalOf(user.id);
    // The certificate of a bound token comes from the browser, whose page is not known here.
    return { kind: 'user', user, revoked, askAgainAt, ...(binding ?? { pageAllowed: true }) };
  }

  async #isRevoked(claims: TokenClaims): Promise<boolean> {
    const { isRevoked, issuer, logger } = this.#setup.options;
    try {
      return (await isRevoked?.(claims)) === true;
    } catch (error) {
      logger?.warn('The revocation of a token cannot be checked', { issuer, error: reasonOf(error) });
      throw unavailable('The revocation of the token cannot be checked now');
    }
  }
}

/** Hashes of tokens. Caches the last token of each connection with its hash, because most clients repeat one token. */
class RecentHashes {
  readonly #last = new WeakMap<object, { readonly token: string; readonly sha256: string }>();

  /** The SHA-256 of a token, as hex digits. The cache is per connection. */
  of(token: string, connection: object | undefined): string | Promise<string> {
    const last = connection === undefined ? undefined : this.#last.get(connection);
    // Several callers may share a proxy's connection, so the comparison takes constant time.
    if (last !== undefined && isSameText(last.token, token)) return last.sha256;
    const sha256 = sha256Hex(token);
    if (connection !== undefined && typeof sha256 === 'string') this.#last.set(connection, { token, sha256 });
    return sha256;
  }
}

const CONTROLLER = Symbol('controller');

/** A signal that keeps its controller alive. A `WeakMap` of controllers takes 2 µs more for each user. */
interface RevocableSignal extends AbortSignal {
  readonly [CONTROLLER]: AbortController;
}

/**
 * A signal for each user, aborted when the tokens of the user are revoked. The signal of a user lives while a call or a
 * cached result holds it.
 */
class Revocations {
  readonly #signals = new Map<string, WeakRef<RevocableSignal>>();
  readonly #released = new FinalizationRegistry<string>((userId) => {
    if (this.#signals.get(userId)?.deref() === undefined) this.#signals.delete(userId);
  });

  /** The signal of a user. The same one until the tokens of the user are revoked. */
  signalOf(userId: string): AbortSignal {
    const known = this.#signals.get(userId)?.deref();
    if (known !== undefined) return known;
    const controller = new AbortController();
    const signal = Object.assign(controller.signal, { [CONTROLLER]: controller });
    this.#signals.set(userId, new WeakRef(signal));
    this.#released.register(signal, userId);
    return signal;
  }

  /** Aborts the signal of a user, or all signals. Later tokens get a new one. */
  revoke(userId?: string): void {
    for (const id of userId === undefined ? [...this.#signals.keys()] : [userId]) {
      const signal = this.#signals.get(id)?.deref();
      this.#signals.delete(id);
      signal?.[CONTROLLER].abort();
    }
  }
}
