import type { CredentialProvider } from '../auth/credential-provider.js';
import type { SchemeCredentials } from '../auth/credentials/scheme-credentials.js';
import { type AuthorizationCodeOptions, authorizationCode as codeFlow } from '../auth/oauth/authorization-code.js';
import { AuthorizationServer } from '../auth/oauth/authorization-server.js';
import { clientCredentials as clientFlow } from '../auth/oauth/client-credentials.js';
import { type DeviceCodeOptions, deviceCode as deviceFlow } from '../auth/oauth/device-code.js';
import type { OAuthClientOptions, OAuthEndpoints } from '../auth/oauth/oauth-options.js';
import { CredentialGuard, originOf } from '../client/credential-guard.js';
import { credentialedFetch as guardedFetch, type PlainFetch } from '../client/credentialed-fetch.js';
import type { AgentCard } from '../model/agent-card.js';
import { checkOptions } from '../options/check-options.js';
import { func, type OptionSchemas, optionObject, texts } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { silentLogger } from '../telemetry/logger.js';
import { redactor as redactorOf } from '../telemetry/redaction.js';
import { callerClock } from './runtime.js';
import { fetchTrusting } from './trusting-fetch.js';

export type {
  CredentialProvider,
  CredentialRefusal,
  CredentialTarget,
  RequestCredentials,
} from '../auth/credential-provider.js';
export { type ApiKeyOptions, apiKey } from '../auth/credentials/api-key.js';
export type { ApiKeyPlace } from '../auth/credentials/api-key-place.js';
export { type BasicOptions, basic } from '../auth/credentials/basic.js';
export { bearerToken } from '../auth/credentials/bearer-token.js';
export type { CredentialKind, SchemeNeed, SchemeProof } from '../auth/credentials/credential-kind.js';
export { combineCredentials, SchemeCredentials } from '../auth/credentials/scheme-credentials.js';
export type { Secret } from '../auth/credentials/secret.js';
export type { AuthorizationCodeOptions } from '../auth/oauth/authorization-code.js';
export type { DeviceCodeOptions, DeviceCodePrompt } from '../auth/oauth/device-code.js';
export type {
  ClientSigningKey,
  OAuthClientAuthentication,
  OAuthClientOptions,
  OAuthEndpoints,
  StepUpRequest,
  TokenFetch,
} from '../auth/oauth/oauth-options.js';
export type { TokenStore, Tokens } from '../auth/oauth/tokens.js';
export { CredentialsError, type CredentialsFault } from '../errors/credentials-error.js';
export { printableUrl, urlSecrets } from '../telemetry/printable-url.js';
export { isSecretName } from '../telemetry/redaction.js';

/** The ports of a client. Its requests can reach private addresses only at origins that the caller has named. */
function runtimeFor(options: Pick<OAuthClientOptions, 'issuer' | 'endpoints' | 'endpointOrigins' | 'trustedOrigins'>) {
  const { issuer, endpoints, endpointOrigins = [] } = Object(options) as typeof options;
  const named: readonly string[] = endpoints === undefined ? [] : Object.values(endpoints);
  const { trustedOrigins = [issuer, ...endpointOrigins, ...named] } = Object(options) as typeof options;
  return { clock: callerClock, fetch: fetchTrusting(trustedOrigins) };
}

/** Tokens that an authorization server gives to the client itself (RFC 6749 §4.4), for agents that call agents. */
export function clientCredentials(options: OAuthClientOptions): SchemeCredentials {
  return clientFlow(options, runtimeFor(options));
}

/** Tokens that a person allows in a browser (RFC 6749 §4.1), always with PKCE (RFC 7636) and a state. */
export function authorizationCode(options: AuthorizationCodeOptions): SchemeCredentials {
  return codeFlow(options, runtimeFor(options));
}

/** Tokens that a person allows on another device (RFC 8628). */
export function deviceCode(options: DeviceCodeOptions): SchemeCredentials {
  return deviceFlow(options, runtimeFor(options));
}

const discoverSchemas: OptionSchemas<DiscoverEndpointsOptions> = {
  trustedOrigins: Type.Optional(texts),
  signal: Type.Optional(Type.Object({})),
};
const discoverSchema = optionObject(discoverSchemas);
const fetchSchemas: OptionSchemas<CredentialedFetchOptions> = {
  card: Type.Object({}),
  trustedOrigins: texts,
  fetch: Type.Optional(func),
};
const credentialedFetchSchema = optionObject(fetchSchemas);

/** Options of `discoverEndpoints`. */
interface DiscoverEndpointsOptions extends Pick<OAuthClientOptions, 'trustedOrigins'> {
  readonly signal?: AbortSignal;
}

/**
 * Returns the endpoints that an issuer names in its discovery document (RFC 8414, OpenID Connect Discovery); undefined
 * if it has none. Ends after 30 s or with the reason of the signal. `trustedOrigins` are as in `OAuthClientOptions`.
 * @throws if the issuer cannot be reached, if its document names another issuer, and for unknown options.
 */
export async function discoverEndpoints(
  issuer: string,
  given: DiscoverEndpointsOptions = {},
): Promise<OAuthEndpoints | undefined> {
  if (typeof issuer !== 'string') refuseArgument('discoverEndpoints', 'the url of an issuer', issuer);
  const checked = checkOptions({ subject: 'discoverEndpoints', schema: discoverSchema, options: given });
  const { signal = new AbortController().signal, ...options } = checked;
  const client = { ...options, issuer, clientId: '' };
  return new AuthorizationServer(client, runtimeFor(client)).discoveredEndpoints(signal);
}

/** Options of `credentialedFetch`. */
interface CredentialedFetchOptions {
  /** The card of the agent, whose schemes the provider serves. */
  readonly card: AgentCard;
  /** URLs whose origins may get the credentials. */
  readonly trustedOrigins: readonly string[];
  /** Default: `fetch` of the platform. */
  readonly fetch?: PlainFetch;
}

/**
 * Makes a `fetch` that adds credentials to requests to trusted origins, for calls outside of a client. If the agent
 * refuses the credentials and the provider has others, the request is repeated once.
 */
export function credentialedFetch(provider: CredentialProvider, options: CredentialedFetchOptions): PlainFetch {
  if (typeof provider?.credentials !== 'function')
    refuseArgument('credentialedFetch', 'credentials, such as apiKey(key)', provider);
  const checked = checkOptions({ subject: 'credentialedFetch', schema: credentialedFetchSchema, options });
  const { card, trustedOrigins, fetch: send = (url, init) => fetch(url, init) } = checked;
  const guard = new CredentialGuard({
    provider,
    card: () => card,
    trusted: new Set(trustedOrigins.map(originOf)),
    logger: silentLogger,
  });
  return guardedFetch(guard, send);
}

/**
 * Makes a function that removes credentials from requests, headers, bodies, events and errors. It finds members of JSON
 * and parameters by their names, credentials of HTTP by their scheme, and `secrets` anywhere, even if they are encoded.
 * `names` are further secret names in lower case. Texts may be truncated anywhere.
 * @throws OptionsError for anything but a list of secrets.
 */
export function redactor(secrets: readonly string[] = [], names?: ReadonlySet<string>): (text: string) => string {
  if (!Array.isArray(secrets)) refuseArgument('redactor', 'a list of secrets', secrets);
  return redactorOf(secrets, names);
}
