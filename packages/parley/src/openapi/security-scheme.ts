import type { OAuthFlows, SecurityScheme } from '../model/security-scheme.js';
import type { Schema } from './document.js';

/** A scheme of a card (Spec §4.5.1) as a document has it. */
export function describedScheme(scheme: SecurityScheme): Schema {
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { location, name, ...about } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', in: location, name, ...about };
  }
  if (scheme.httpAuthSecurityScheme !== undefined) {
    const { scheme: name, ...about } = scheme.httpAuthSecurityScheme;
    return { type: 'http', scheme: name.toLowerCase(), ...about };
  }
  if (scheme.oauth2SecurityScheme !== undefined) {
    const { flows, oauth2MetadataUrl: _, ...about } = scheme.oauth2SecurityScheme;
    return { type: 'oauth2', flows: describedFlows(flows), ...about };
  }
  if (scheme.openIdConnectSecurityScheme !== undefined)
    return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
}

/** The urls that a document needs to show a flow. OpenAPI has no flows but these. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  authorizationCode: ['authorizationUrl', 'tokenUrl'],
  clientCredentials: ['tokenUrl'],
  implicit: ['authorizationUrl'],
  password: ['tokenUrl'],
};

function describedFlows(flows: OAuthFlows): Schema {
  const known = Object.entries(flows as unknown as Readonly<Record<string, Schema>>).filter(([name, flow]) =>
    NEEDED[name]?.every((url) => url in flow),
  );
  return Object.fromEntries(
    known.map(([name, { pkceRequired: _, scopes = {}, ...flow }]) => [name, { ...flow, scopes }]),
  );
}
