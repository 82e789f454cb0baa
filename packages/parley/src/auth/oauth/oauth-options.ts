import type { Clock } from '../../runtime/clock.js';
import type { TokenStore } from './tokens.js';

/** The web's `fetch`, as far as it is needed to get tokens. */
export type TokenFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where an authorization server takes requests. */
export interface OAuthEndpoints {
  readonly token: string;
  readonly authorization?: string;
  readonly deviceAuthorization?: string;
}

/** A private key of the web's crypto interface. */
export type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** How a client says who it is: RFC 6749 §2.3, RFC 7523 §2.2, RFC 8705 §2. */
export type OAuthClientAuthentication =
  | { readonly method: 'basic' | 'post'; readonly secret: string }
  | { readonly method: 'private-key'; readonly key: SigningKey; readonly kid?: string }
  /** By the certificate of its connections: `fetch` has to present it. */
  | { readonly method: 'tls' };

/** A token that is about to be widened. */
export interface StepUpRequest {
  /** The authorization server that is asked for the wider token. */
  readonly issuer: string;
  /** The scopes that the agent names and the token lacks. */
  readonly scopes: readonly string[];
  /** The agent that gets the wider token, as `resource` of the request. */
  readonly agent: string;
}

/** A client that an authorization server knows. */
export interface OAuthClientOptions {
  /**
   * The authorization server, by its issuer. Secrets, codes and refresh tokens go to it and nowhere else, whatever a
   * card says: a scheme whose urls have another origin is not served.
   */
  readonly issuer: string;
  /**
   * Its endpoints, if they cannot be discovered (RFC 8414, OpenID Connect). They have the origin of the issuer or one
   * of `endpointOrigins`, or the discovery document of the issuer names them too; else nothing is sent to them.
   */
  readonly endpoints?: OAuthEndpoints;
  /** Other origins at which the authorization server has endpoints. */
  readonly endpointOrigins?: readonly string[];
  readonly clientId: string;
  /** Sent as the authorization server prefers; absent: a public client, unless `authentication` says more. */
  readonly clientSecret?: string;
  readonly authentication?: OAuthClientAuthentication;
  /** What to ask for; absent: what the card requires. */
  readonly scopes?: readonly string[];
  /**
   * Scopes that a token may be widened to when an agent refuses it for lack of scope (RFC 6750 §3.1). Of the scopes
   * that the agent names, these are asked for, for that agent alone (RFC 8707). A function is asked once for all calls
   * that wait, for example to show the request to a person, and gives the scopes that it allows. Absent: none, and the
   * refusal stands.
   */
  readonly stepUp?: readonly string[] | ((wanted: StepUpRequest) => readonly string[] | Promise<readonly string[]>);
  /** The agent as the authorization server knows it, so that the token is good for nothing else (RFC 8707). */
  readonly resource?: string;
  /** The only scheme of the card, by its name there, that this is for. */
  readonly scheme?: string;
  /** Absent: tokens are kept in memory. */
  readonly store?: TokenStore;
  /** Absent: that of the host. */
  readonly fetch?: TokenFetch;
  /** Also without TLS, for a private network; a server on the same machine needs no leave. */
  readonly plainHttp?: boolean;
}

/** What getting tokens needs of the machine. */
export interface OAuthRuntime {
  /** Pending timers keep the process alive: somebody waits for them. */
  readonly clock: Clock;
  readonly fetch: TokenFetch;
}
