import type * as OAuth from 'oauth4webapi';
import { CredentialsError } from '../../errors/credentials-error.js';
import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { bearerHeader, tokenOf } from '../credentials/bearer-token.js';
import type { CredentialKind, SchemeNeed, SchemeProof } from '../credentials/credential-kind.js';
import { SchemeCredentials } from '../credentials/scheme-credentials.js';
import { VISIBLE } from '../credentials/secret.js';
import { AuthorizationServer, type OAuthSession } from './authorization-server.js';
import { oauthErrorCode } from './oauth-failure.js';
import type { OAuthClientOptions, OAuthRuntime } from './oauth-options.js';
import { TokenKeeper } from './token-keeper.js';
import type { Tokens } from './tokens.js';

/** A way to get a first token. */
export interface OAuthGrant {
  /** As cards call it. */
  readonly flow: 'clientCredentials' | 'authorizationCode' | 'deviceCode';
  /** Gets what the token endpoint answers. `parameters` are the scope and the resource. */
  tokens(session: OAuthSession, parameters: Readonly<Record<string, string>>): Promise<OAuth.TokenEndpointResponse>;
}

/** Of the life of a token, the part at whose end it is renewed before it is used, and the most of it. */
const MARGIN = 0.1;
const LONGEST_MARGIN_MS = 30_000;

/** Tokens of an authorization server for the schemes of cards that mean it: those of OAuth 2 with this flow, OpenID Connect and HTTP Bearer. */
export class OAuthCredentials implements CredentialKind {
  readonly title: string;
  readonly schemeName: string | undefined;
  readonly #options: OAuthClientOptions;
  readonly #runtime: OAuthRuntime;
  readonly #grant: OAuthGrant;
  readonly #server: AuthorizationServer;
  /** By scopes. */
  readonly #keepers = new Map<string, TokenKeeper>();
  /** What turned out to be needed instead of what cards require, both as scopes. */
  readonly #widened = new Map<string, string>();

  /** @throws OptionsError where the issuer is no url. */
  constructor({ options, runtime, grant }: OAuthParts) {
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
    if ('httpAuthSecurityScheme' in scheme) return /^bearer$/i.test(scheme.httpAuthSecurityScheme.scheme);
    if (!('oauth2SecurityScheme' in scheme))
      return 'openIdConnectSecurityScheme' in scheme && this.#server.isMeantBy(scheme);
    // Named by the caller, a scheme is also served by another way to its tokens.
    const isOwnFlow = this.#grant.flow in scheme.oauth2SecurityScheme.flows || this.schemeName !== undefined;
    return isOwnFlow && this.#server.isMeantBy(scheme);
  }

  async prove(need: SchemeNeed): Promise<SchemeProof> {
    const wanted = this.#wanted(need.scopes);
    const token = await this.#keeper(this.#widened.get(wanted) ?? wanted, need.scheme).current(need.signal);
    return { headers: bearerHeader(token) };
  }

  async renew(
    need: SchemeNeed,
    { proof, scopes }: { proof: SchemeProof; scopes: readonly string[] },
  ): Promise<boolean> {
    const wanted = this.#wanted(need.scopes);
    const had = this.#widened.get(wanted) ?? wanted;
    const refused = tokenOf(proof.headers);
    if (scopes.length === 0) return this.#keeper(had, need.scheme).renew(refused, need.signal);
    const wider = this.#wanted([...had.split(' '), ...scopes]);
    // Somebody else may have been refused before, and the wider token be here.
    if (wider === had) return (await this.#keeper(had, need.scheme).current(need.signal)) !== refused;
    await this.#keeper(wider, need.scheme).current(need.signal);
    this.#widened.set(wanted, wider);
    return true;
  }

  /** The scopes to ask for, in one form. */
  #wanted(required: readonly string[]): string {
    const scopes = this.#options.scopes ?? required;
    return [...new Set(scopes)]
      .filter((scope) => scope !== '')
      .sort()
      .join(' ');
  }

  #keeper(scope: string, scheme: SecurityScheme | undefined): TokenKeeper {
    const known = this.#keepers.get(scope);
    if (known !== undefined) return known;
    const { issuer, clientId, resource, store } = this.#options;
    const keeper = new TokenKeeper({
      clock: this.#runtime.clock,
      store,
      key: JSON.stringify([issuer, clientId, this.#grant.flow, scope, resource ?? '']),
      obtain: (previous, signal) =>
        this.#server.ask({ scheme, signal }, (session) => this.#obtain({ session, scope, previous })),
    });
    this.#keepers.set(scope, keeper);
    return keeper;
  }

  async #obtain({ session, scope, previous }: ObtainParts): Promise<Tokens> {
    const { resource } = this.#options;
    const parameters = { ...(scope !== '' && { scope }), ...(resource !== undefined && { resource }) };
    if (previous?.refreshToken !== undefined) {
      const refreshed = await this.#refreshed(session, previous.refreshToken);
      if (refreshed !== undefined) return refreshed;
    }
    return this.#checked(await this.#grant.tokens(session, parameters));
  }

  /** Undefined where the refresh token is no longer good: then everything begins anew. */
  async #refreshed(session: OAuthSession, refreshToken: string): Promise<Tokens | undefined> {
    const { library, server, client, authentication, request } = session;
    const { resource } = this.#options;
    const options = resource === undefined ? request : { ...request, additionalParameters: { resource } };
    const response = await library.refreshTokenGrantRequest(server, client, authentication, refreshToken, options);
    try {
      const tokens = this.#checked(await library.processRefreshTokenResponse(server, client, response));
      return { refreshToken, ...tokens };
    } catch (error) {
      if (oauthErrorCode(error) === 'invalid_grant') return undefined;
      throw error;
    }
  }

  #checked(answer: OAuth.TokenEndpointResponse): Tokens {
    const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken, token_type: type } = answer;
    const { issuer } = this.#options;
    // Hosts show a header that they refuse.
    const isUsable = type.toLowerCase() === 'bearer' && VISIBLE.test(accessToken);
    if (!isUsable) throw new CredentialsError('unavailable', `${issuer} gives no bearer token`);
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

/** What such credentials are made of. */
export interface OAuthParts {
  readonly options: OAuthClientOptions;
  readonly runtime: OAuthRuntime;
  readonly grant: OAuthGrant;
}

interface ObtainParts {
  readonly session: OAuthSession;
  readonly scope: string;
  readonly previous: Tokens | undefined;
}

/** The tokens of one grant as credentials of a client. */
export function oauthCredentials(parts: OAuthParts): SchemeCredentials {
  return new SchemeCredentials([new OAuthCredentials(parts)]);
}
