import type { OAuthFlows, SecurityRequirement, SecurityScheme } from '../../model/security-scheme.js';

/** A scheme with its kind in `type`; a device flow and the demand of PKCE are lost, `undefined` where nothing is left. */
export function writeSecurityScheme(scheme: SecurityScheme): object | undefined {
  if ('apiKeySecurityScheme' in scheme) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', in: location, ...rest };
  }
  if ('httpAuthSecurityScheme' in scheme) return { type: 'http', ...scheme.httpAuthSecurityScheme };
  if ('openIdConnectSecurityScheme' in scheme) return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  if ('mtlsSecurityScheme' in scheme) return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
  const { flows, ...rest } = scheme.oauth2SecurityScheme;
  const written = writeFlows(flows);
  return written && { type: 'oauth2', ...rest, flows: written };
}

function writeFlows(flows: OAuthFlows): object | undefined {
  if ('deviceCode' in flows) return undefined;
  if (!('authorizationCode' in flows)) return flows;
  const { pkceRequired: _, ...flow } = flows.authorizationCode;
  return { authorizationCode: flow };
}

/** The requirements of a card or skill: name of the scheme → scopes. */
export function writeSecurity(requirements: readonly SecurityRequirement[] | undefined): object[] | undefined {
  return requirements?.map(({ schemes = {} }) =>
    Object.fromEntries(Object.entries(schemes).map(([name, { list = [] }]) => [name, list])),
  );
}
