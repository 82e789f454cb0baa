import { isObject } from '../../model/json.js';
import type { OAuthFlows, SecurityRequirement, SecurityScheme } from '../../model/security-scheme.js';
import type { Members } from './members-reader.js';

/**
 * Writes a scheme with its kind in `type`. Device flows and the flag for PKCE are lost; undefined if nothing is left.
 */
export function writeSecurityScheme(scheme: SecurityScheme): object | undefined {
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', in: location, ...rest };
  }
  if (scheme.httpAuthSecurityScheme !== undefined) return { type: 'http', ...scheme.httpAuthSecurityScheme };
  if (scheme.openIdConnectSecurityScheme !== undefined)
    return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  if (scheme.mtlsSecurityScheme !== undefined) return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
  const { flows, ...rest } = scheme.oauth2SecurityScheme;
  const written = writeFlows(flows);
  return written && { type: 'oauth2', ...rest, flows: written };
}

function writeFlows(flows: OAuthFlows): object | undefined {
  if (flows.deviceCode !== undefined) return undefined;
  if (flows.authorizationCode === undefined) return flows;
  const { pkceRequired: _, ...flow } = flows.authorizationCode;
  return { authorizationCode: flow };
}

/** Writes the requirements of a card or skill: name of the scheme → scopes. */
export function writeSecurity(requirements: readonly SecurityRequirement[] | undefined): object[] | undefined {
  return requirements?.map(({ schemes = {} }) =>
    Object.fromEntries(Object.entries(schemes).map(([name, { list = [] }]) => [name, list])),
  );
}

/** Reads a scheme by its `type`, or one in the form of 1.0. Of several flows it takes the safest. */
export function readSecurityScheme({ type, ...scheme }: Members): Members {
  switch (String(type).toLowerCase()) {
    case 'apikey': {
      const { in: location, ...rest } = scheme;
      return { apiKeySecurityScheme: { location, ...rest } };
    }
    case 'http':
      return { httpAuthSecurityScheme: scheme };
    case 'openidconnect':
      return { openIdConnectSecurityScheme: scheme };
    case 'mutualtls':
      return { mtlsSecurityScheme: scheme };
    case 'oauth2':
      return { oauth2SecurityScheme: { ...scheme, flows: readFlows(scheme.flows) } };
    default:
      return scheme;
  }
}

const FLOWS = ['authorizationCode', 'clientCredentials', 'implicit', 'password'];

function readFlows(flows: unknown): unknown {
  if (!isObject(flows)) return flows;
  const flow = FLOWS.find((name) => isObject(flows[name]));
  return flow === undefined ? flows : { [flow]: flows[flow] };
}
