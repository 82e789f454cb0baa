import type { OAuthEndpoints } from 'parley-a2a/credentials';

const DISCOVERY_MS = 30_000;

/**
 * The endpoints that the discovery document of an issuer names (RFC 8414, OpenID Connect Discovery).
 * @returns `undefined` if the issuer has no such document.
 * @throws if the issuer cannot be reached, or if its document names another issuer.
 */
export async function discoveredEndpoints(issuer: string): Promise<OAuthEndpoints | undefined> {
  const { allowInsecureRequests, discoveryRequest, processDiscoveryResponse } = await import('oauth4webapi');
  const url = new URL(issuer);
  const request = {
    [allowInsecureRequests]: /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname),
    signal: AbortSignal.timeout(DISCOVERY_MS),
  };
  for (const algorithm of ['oidc', 'oauth2'] as const) {
    const response = await discoveryRequest(url, { ...request, algorithm });
    if (response.status === 404) continue;
    const server = await processDiscoveryResponse(url, response);
    const { token_endpoint: token, device_authorization_endpoint: deviceAuthorization } = server;
    return token === undefined
      ? undefined
      : { token, ...(deviceAuthorization !== undefined && { deviceAuthorization }) };
  }
  return undefined;
}

/** True if every endpoint has the origin of an issuer. */
export function shareOrigin(issuer: string, endpoints: OAuthEndpoints): boolean {
  return Object.values(endpoints).every((endpoint) => URL.parse(endpoint)?.origin === new URL(issuer).origin);
}
