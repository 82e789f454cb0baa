import type * as OAuth from 'oauth4webapi';
import { CredentialsError } from '../../errors/credentials-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { boundedFetch } from '../../net/bounded-fetch.js';
import { isLoopback } from '../../net/loopback.js';
import { clientAuthentication } from './client-authentication.js';
import { oauthFailure } from './oauth-failure.js';
import type { OAuthClientOptions, OAuthEndpoints, OAuthRuntime } from './oauth-options.js';

/** The parts of a request to an authorization server. */
export interface OAuthSession {
  readonly library: typeof OAuth;
  readonly server: OAuth.AuthorizationServer;
  readonly client: OAuth.Client;
  readonly authentication: OAuth.ClientAuth;
  /** Options of every request. */
  readonly request: {
    readonly signal: AbortSignal;
    readonly [OAuth.customFetch]: ReturnType<typeof boundedFetch>;
    readonly [OAuth.allowInsecureRequests]: boolean;
  };
}

/** Limits of an answer. Answers about tokens are small. */
const ANSWER = { bytes: 1024 * 1024, ms: 30_000 };

/** The urls of a scheme by their purpose. */
interface SchemeUrls {
  readonly token?: string | undefined;
  readonly authorization?: string | undefined;
  readonly deviceAuthorization?: string | undefined;
  readonly metadata?: string | undefined;
}

/** The authorization server of a client. It tells which schemes of cards belong to it, and sends requests. */
export class AuthorizationServer {
  readonly #options: OAuthClientOptions;
  readonly #runtime: OAuthRuntime;
  #discovered: Promise<OAuth.AuthorizationServer | undefined> | undefined;

  constructor(options: OAuthClientOptions, runtime: OAuthRuntime) {
    this.#options = options;
    this.#runtime = runtime;
  }

  /** True if all urls of a scheme can belong to this authorization server. */
  isMeantBy(scheme: SecurityScheme): boolean {
    const own = [...this.#origins, ...Object.values(this.#options.endpoints ?? {}).map(originOf)];
    return Object.values(urlsOf(scheme)).every((url) => url === undefined || url === '' || own.includes(originOf(url)));
  }

  /** Origins that the caller has named for this authorization server. */
  get #origins(): readonly (string | undefined)[] {
    const { issuer, endpointOrigins = [] } = this.#options;
    return [issuer, ...endpointOrigins].map(originOf);
  }

  /**
   * Sends requests. Errors hold no secret.
   * @throws CredentialsError, or the reason of the signal.
   */
  async ask<T>(
    { scheme, signal }: { readonly scheme: SecurityScheme | undefined; readonly signal: AbortSignal },
    requests: (session: OAuthSession) => Promise<T>,
  ): Promise<T> {
    try {
      return await requests(await this.#session(scheme, signal));
    } catch (error) {
      throw oauthFailure({ issuer: this.#options.issuer, error, signal });
    }
  }

  /**
   * Requests the discovery document and returns its endpoints; undefined if there is none.
   * @throws if the server cannot be reached or its document names another issuer, or the reason of the signal.
   */
  async discoveredEndpoints(signal: AbortSignal): Promise<OAuthEndpoints | undefined> {
    const library = await import('oauth4webapi');
    const server = await this.#discover({ library, request: this.#requestOptions(library, signal) });
    const { token_endpoint: token, device_authorization_endpoint: deviceAuthorization } = server ?? {};
    return token === undefined
      ? undefined
      : { token, ...(deviceAuthorization !== undefined && { deviceAuthorization }) };
  }

  async #session(scheme: SecurityScheme | undefined, signal: AbortSignal): Promise<OAuthSession> {
    const library = await import('oauth4webapi');
    const request = this.#requestOptions(library, signal);
    const server = await this.#server(scheme, { library, request });
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return {
      library,
      server,
      client: { client_id: this.#options.clientId },
      authentication: clientAuthentication(library, this.#options, methods),
      request,
    };
  }

  #requestOptions(library: typeof OAuth, signal: AbortSignal): OAuthSession['request'] {
    const { issuer, plainHttp = false, fetch = this.#runtime.fetch } = this.#options;
    return {
      signal,
      [library.customFetch]: boundedFetch(fetch, { clock: this.#runtime.clock, ...ANSWER }),
      [library.allowInsecureRequests]: plainHttp || isLoopback(new URL(issuer).hostname.replace(/^\[|\]$/g, '')),
    };
  }

  /** The discovery document decides. Without one, endpoints of the card count, which are at the same origin. */
  async #server(
    scheme: SecurityScheme | undefined,
    session: Pick<OAuthSession, 'library' | 'request'>,
  ): Promise<OAuth.AuthorizationServer> {
    const { issuer, endpoints } = this.#options;
    const foreign = Object.values(endpoints ?? {}).filter((url) => !this.#origins.includes(originOf(url)));
    if (endpoints !== undefined && foreign.length === 0) return serverAt(issuer, endpoints);
    this.#discovered ??= this.#discover(session);
    // A failed discovery may succeed the next time.
    this.#discovered.catch(() => (this.#discovered = undefined));
    const discovered = await this.#discovered;
    if (endpoints === undefined) return discovered ?? serverAt(issuer, scheme === undefined ? {} : urlsOf(scheme));
    const named = Object.values(discovered ?? {});
    const stranger = foreign.find((url) => !named.includes(url));
    if (stranger === undefined) return serverAt(issuer, endpoints);
    throw new CredentialsError(
      'missing',
      `${originOf(stranger) ?? 'The endpoint'} is not an origin of ${issuer}; endpointOrigins names such origins`,
    );
  }

  async #discover({
    library,
    request,
  }: Pick<OAuthSession, 'library' | 'request'>): Promise<OAuth.AuthorizationServer | undefined> {
    const issuer = new URL(this.#options.issuer);
    for (const algorithm of ['oidc', 'oauth2'] as const) {
      const response = await library.discoveryRequest(issuer, { ...request, algorithm });
      if (response.status !== 404) return await library.processDiscoveryResponse(issuer, response);
    }
    return undefined;
  }
}

function serverAt(issuer: string, urls: SchemeUrls): OAuth.AuthorizationServer {
  return {
    issuer,
    ...(urls.token && { token_endpoint: urls.token }),
    ...(urls.authorization && { authorization_endpoint: urls.authorization }),
    ...(urls.deviceAuthorization && { device_authorization_endpoint: urls.deviceAuthorization }),
  };
}

function urlsOf(scheme: SecurityScheme): SchemeUrls {
  if (scheme.openIdConnectSecurityScheme !== undefined)
    return { metadata: scheme.openIdConnectSecurityScheme.openIdConnectUrl };
  if (scheme.oauth2SecurityScheme === undefined) return {};
  const { flows, oauth2MetadataUrl: metadata } = scheme.oauth2SecurityScheme;
  if (flows.authorizationCode !== undefined) {
    const { tokenUrl: token, authorizationUrl: authorization } = flows.authorizationCode;
    return { token, authorization, metadata };
  }
  if (flows.deviceCode !== undefined) {
    const { tokenUrl: token, deviceAuthorizationUrl: deviceAuthorization } = flows.deviceCode;
    return { token, deviceAuthorization, metadata };
  }
  return { metadata, ...(flows.clientCredentials !== undefined && { token: flows.clientCredentials.tokenUrl }) };
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
