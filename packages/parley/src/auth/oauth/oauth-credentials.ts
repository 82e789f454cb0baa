import type * as OAuth from 'oauth4webapi';
import { CredentialsError } from '../../errors/credentials-error.js';
import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { bearerHeader, tokenOf } from '../credentials/bearer-token.js';
import type { CredentialKind, SchemeNeed, SchemeProof } from '../credentials/credential-kind.js';
import { SchemeCredentials } from '../credentials/scheme-credentials.js';
import { VISIBLE } from '../credentials/secret.js';
import { ownWait } from '../credentials/shared-work.js';
import { AuthorizationServer, type OAuthSession } from './authorization-server.js';
import { oauthErrorCode } from './oauth-failure.js';
import type { OAuthClientOptions, OAuthRuntime, StepUpRequest } from './oauth-options.js';
import { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './tokens.js';

/** A way to get the first token. */
interface OAuthGrant {
  /** The name of the flow in cards. */
  readonly flow: 'clientCredentials' | 'authorizationCode' | 'deviceCode';
  /** Requests tokens from the token endpoint. `parameters` are the scope and the resource. */
  tokens(session: OAuthSession, parameters: Readonly<Record<string, string>>): Promise<OAuth.TokenEndpointResponse>;
}

/** The part of its lifetime before its expiry at which a token is renewed. */
const MARGIN = 0.1;
const LONGEST_MARGIN_MS = 30_000;

/**
 * Tokens of one authorization server, for the schemes of cards that belong to it: OAuth 2 with this flow, OpenID
 * Connect and HTTP Bearer.
 */
class OAuthCredentials implements CredentialKind {
  readonly title: string;
  readonly schemeName: string | undefined;
  readonly #options: OAuthClientOptions;
  readonly #runtime: OAuthRuntime;
  readonly #grant: OAuthGrant;
  readonly #server: AuthorizationServer;
  /** By token target, as JSON. */
  readonly #keepers = new Map<string, TokenKeeper>();
  /** Wider scopes of an agent, by the scopes of its card and its url, as JSON. */
  readonly #widened = new Map<string, TokenTarget>();
  /** Pending step-up requests, by their scopes as JSON. */
  readonly #asked = new Map<string, Promise<readonly string[]>>();

  /** @throws OptionsError if the issuer is no url. */
  constructor({ options, runtime, grant }: OAuthCredentialsOptions) {
    if (!URL.canParse(options.issuer)) throw new OptionsError(grant.flow, ['issuer: must be a url']);
    this.title = `an OAuth client of ${options.issuer}`;
    this.schemeName = options.scheme;
    this.#options = options;
    this.#runtime = runtime;
    this.#grant = grant;
    this.#server = new AuthorizationServer(options, runtime);
  }

  fits(scheme: SecurityScheme | undefined): boolean {
    if (scheme === undefined) return true;
    if (scheme.httpAuthSecurityScheme !== undefined) return /^bearer$/i.test(scheme.httpAuthSecurityScheme.scheme);
    if (scheme.oauth2SecurityScheme === undefined)
      return scheme.openIdConnectSecurityScheme !== undefined && this.#server.isMeantBy(scheme);
    // A scheme that the caller has named is served even if it offers only other flows.
    const isOwnFlow = this.#grant.flow in scheme.oauth2SecurityScheme.flows || this.schemeName !== undefined;
    return isOwnFlow && this.#server.isMeantBy(scheme);
  }

  async prove(need: SchemeNeed): Promise<SchemeProof> {
    const token = await this.#keeper(this.#target(need), need.scheme).current(need.signal);
    return { headers: bearerHeader(token) };
  }

  async renew(
    need: SchemeNeed,
    { proof, scopes }: { proof: SchemeProof; scopes: readonly string[] },
  ): Promise<boolean> {
    const had = this.#target(need);
    const refused = tokenOf(proof.headers);
    if (scopes.length === 0) return this.#keeper(had, need.scheme).renew(refused, need.signal);
    const lacking = scopes.filter((scope) => !had.scope.split(' ').includes(scope));
    // Another call may have been refused before and have the wider token already.
    if (lacking.length === 0) return (await this.#keeper(had, need.scheme).current(need.signal)) !== refused;
    const agent = agentOf(need.url);
    const allowed = await ownWait(
      this.#allowedScopes({ issuer: this.#options.issuer, scopes: lacking, agent }),
      need.signal,
    );
    const added = lacking.filter((scope) => allowed.includes(scope));
    if (added.length === 0) return false;
    const wider = { scope: scopeOf([...had.scope.split(' '), ...added]), resource: this.#options.resource ?? agent };
    await this.#keeper(wider, need.scheme).current(need.signal);
    this.#widened.set(this.#keyOf(need), wider);
    return true;
  }

  /** The scopes and the resource of a token. */
  #target(need: SchemeNeed): TokenTarget {
    const { scopes = need.scopes, resource } = this.#options;
    return this.#widened.get(this.#keyOf(need)) ?? { scope: scopeOf(scopes), resource };
  }

  /** A wider token is only for the agent that has named its scopes. */
  #keyOf({ scopes, url }: SchemeNeed): string {
    return JSON.stringify([scopeOf(this.#options.scopes ?? scopes), agentOf(url)]);
  }

  /** The scopes that the caller allows, of those that an agent names. All waiting calls share one request. */
  #allowedScopes(wanted: StepUpRequest): Promise<readonly string[]> {
    const { stepUp = [] } = this.#options;
    if (typeof stepUp !== 'function') return Promise.resolve(stepUp);
    const key = JSON.stringify(wanted);
    const asking = this.#asked.get(key) ?? Promise.resolve(wanted).then(stepUp);
    this.#asked.set(key, asking);
    return asking.finally(() => this.#asked.delete(key));
  }

  #keeper(target: TokenTarget, scheme: SecurityScheme | undefined): TokenKeeper {
    const { scope, resource } = target;
    const { issuer, clientId, store } = this.#options;
    const key = JSON.stringify([issuer, clientId, this.#grant.flow, scope, resource ?? '']);
    const known = this.#keepers.get(key);
    if (known !== undefined) return known;
    const keeper = new TokenKeeper({
      clock: this.#runtime.clock,
      store,
      key,
      obtain: (previous, signal) =>
        this.#server.ask({ scheme, signal }, (session) => this.#obtain({ session, target, previous })),
    });
    this.#keepers.set(key, keeper);
    return keeper;
  }

  async #obtain({ session, target: { scope, resource }, previous }: ObtainOptions): Promise<Tokens> {
    const parameters = { ...(scope !== '' && { scope }), ...(resource !== undefined && { resource }) };
    if (previous?.refreshToken !== undefined) {
      const refreshed = await this.#refresh(session, { refreshToken: previous.refreshToken, resource });
      if (refreshed !== undefined) return refreshed;
    }
    return this.#readTokens(await this.#grant.tokens(session, parameters));
  }

  /** Resolves to `undefined` if the refresh token is no longer valid. Then a new grant begins. */
  async #refresh(
    session: OAuthSession,
    { refreshToken, resource }: { readonly refreshToken: string; readonly resource: string | undefined },
  ): Promise<Tokens | undefined> {
    const { library, server, client, authentication, request } = session;
    const options = resource === undefined ? request : { ...request, additionalParameters: { resource } };
    const response = await library.refreshTokenGrantRequest(server, client, authentication, refreshToken, options);
    try {
      const tokens = this.#readTokens(await library.processRefreshTokenResponse(server, client, response));
      return { refreshToken, ...tokens };
    } catch (error) {
      if (oauthErrorCode(error) === 'invalid_grant') return undefined;
      throw error;
    }
  }

  #readTokens(answer: OAuth.TokenEndpointResponse): Tokens {
    const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken, token_type: type } = answer;
    const { issuer } = this.#options;
    // Errors of hosts about a header that they refuse would contain the token.
    const isUsable = type.toLowerCase() === 'bearer' && VISIBLE.test(accessToken);
    if (!isUsable) throw new CredentialsError('unavailable', `The answer of ${issuer} has no usable bearer token`);
    const life = seconds === undefined ? undefined : seconds * 1000;
    const now = this.#runtime.clock.now();
    return {
      accessToken,
      ...(life !== undefined && {
        renewAt: now + life - Math.min(life * MARGIN, LONGEST_MARGIN_MS),
        expiresAt: now + life,
      }),
      ...(refreshToken !== undefined && { refreshToken }),
    };
  }
}

/** Options of `oauthCredentials`. */
interface OAuthCredentialsOptions {
  readonly options: OAuthClientOptions;
  readonly runtime: OAuthRuntime;
  readonly grant: OAuthGrant;
}

interface TokenTarget {
  /** Scopes in canonical form. */
  readonly scope: string;
  readonly resource: string | undefined;
}

interface ObtainOptions {
  readonly session: OAuthSession;
  readonly target: TokenTarget;
  readonly previous: Tokens | undefined;
}

/** The tokens of one grant as credentials of a client. */
export function oauthCredentials(parts: OAuthCredentialsOptions): SchemeCredentials {
  return new SchemeCredentials([new OAuthCredentials(parts)]);
}

/** Scopes in canonical form. */
function scopeOf(scopes: readonly string[]): string {
  return [...new Set(scopes)]
    .filter((scope) => scope !== '')
    .sort()
    .join(' ');
}

/** The agent as a resource of an authorization server: an absolute url without query and fragment (RFC 8707 §2). */
function agentOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
