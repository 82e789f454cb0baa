import {
  eitherOf,
  flag,
  func,
  nonEmpty,
  type OptionSchemas,
  optionObject,
  text,
  texts,
  webUrl,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { TokenStore } from './tokens.js';

/** The part of `fetch` that token requests need. */
export type TokenFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Endpoints of an authorization server. */
export interface OAuthEndpoints {
  readonly token: string;
  readonly authorization?: string;
  readonly deviceAuthorization?: string;
}

/** A private key of the Web Crypto API. */
export type ClientSigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Authentication of the client: RFC 6749 §2.3, RFC 7523 §2.2, RFC 8705 §2. */
export type OAuthClientAuthentication =
  | { readonly method: 'basic' | 'post'; readonly secret: string }
  | { readonly method: 'private-key'; readonly key: ClientSigningKey; readonly kid?: string }
  /** By the certificate of the connection, which `fetch` has to present. */
  | { readonly method: 'tls' };

/** A request for a token with more scopes. */
export interface StepUpRequest {
  /** The authorization server that issues the wider token. */
  readonly issuer: string;
  /** Scopes that the agent names and the token lacks. */
  readonly scopes: readonly string[];
  /** The agent that gets the wider token, as `resource` of the request. */
  readonly agent: string;
}

/** A client that is registered at an authorization server. */
export interface OAuthClientOptions {
  /**
   * The authorization server, by its issuer. Secrets, codes and refresh tokens go only there. A scheme of a card whose
   * urls have another origin is not served.
   */
  readonly issuer: string;
  /**
   * Endpoints, if they cannot be discovered (RFC 8414, OpenID Connect). They must have the origin of the issuer or one
   * of `endpointOrigins`, or the discovery document must name them.
   */
  readonly endpoints?: OAuthEndpoints;
  /** Other origins with endpoints of the authorization server. */
  readonly endpointOrigins?: readonly string[];
  readonly clientId: string;
  /** Sent in the way that the authorization server prefers. Absent: a public client, unless `authentication` is set. */
  readonly clientSecret?: string;
  readonly authentication?: OAuthClientAuthentication;
  /** Scopes of the token. Absent: those that the card requires. */
  readonly scopes?: readonly string[];
  /**
   * Scopes that a token may be widened to if an agent refuses it for lack of scope (RFC 6750 §3.1). The wider token is
   * for that agent alone (RFC 8707). A function is called once for all waiting calls, for example to ask a person, and
   * returns the scopes that it allows. Absent: none, and the refusal stands.
   */
  readonly stepUp?: readonly string[] | ((wanted: StepUpRequest) => readonly string[] | Promise<readonly string[]>);
  /** The agent as the authorization server knows it. The token is then valid for this agent only (RFC 8707). */
  readonly resource?: string;
  /** The name of the only scheme of the card that these credentials serve. */
  readonly scheme?: string;
  /** Absent: tokens are in memory. */
  readonly store?: TokenStore;
  /**
   * Origins that may be private, if the issuer or an endpoint comes from a card. On Node.js, requests to any other
   * origin go to public addresses only, unless one of these is private itself. Default: the origins of `issuer`,
   * `endpoints` and `endpointOrigins`.
   */
  readonly trustedOrigins?: readonly string[];
  /** Sends requests to any address. Absent: the `fetch` of the host, with a check of addresses. */
  readonly fetch?: TokenFetch;
  /** Allows servers without TLS, for a private network. Servers on the same machine are always allowed. */
  readonly plainHttp?: boolean;
}

/** The schema of a client's authentication at an authorization server. */
export const clientAuthenticationSchema = Type.Refine(
  optionObject({
    method: Type.String({ enum: ['basic', 'post', 'private-key', 'tls'] }),
    secret: Type.Optional(nonEmpty),
    key: Type.Optional(Type.Object({})),
    kid: Type.Optional(nonEmpty),
  }),
  (value) => {
    const { method, secret, key, kid } = value as Partial<Record<string, unknown>>;
    const isSecret = method === 'basic' || method === 'post';
    const isKey = method === 'private-key';
    return isSecret === (secret !== undefined) && isKey === (key !== undefined) && (isKey || kid === undefined);
  },
  () => 'needs secret with the method basic or post, and key with private-key',
);
const url = webUrl('must be an http or https URL');
const endpoints: OptionSchemas<OAuthEndpoints> = {
  token: url,
  authorization: Type.Optional(url),
  deviceAuthorization: Type.Optional(url),
};

/** The schemas of OAuthClientOptions. */
export const oauthClientSchemas: OptionSchemas<OAuthClientOptions> = {
  issuer: text,
  endpoints: Type.Optional(optionObject(endpoints)),
  endpointOrigins: Type.Optional(texts),
  clientId: text,
  clientSecret: Type.Optional(text),
  authentication: Type.Optional(clientAuthenticationSchema),
  scopes: Type.Optional(texts),
  stepUp: Type.Optional(eitherOf([texts, func], 'must be a list of scopes, or a function')),
  resource: Type.Optional(text),
  scheme: Type.Optional(nonEmpty),
  store: Type.Optional(withMethod('load')),
  trustedOrigins: Type.Optional(texts),
  fetch: Type.Optional(func),
  plainHttp: Type.Optional(flag),
};

/** Ports for token requests. */
export interface OAuthRuntime {
  /** Pending timers keep the process alive, because a caller waits for them. */
  readonly clock: Clock;
  readonly fetch: TokenFetch;
}
