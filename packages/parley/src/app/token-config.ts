import { urlFault } from '../auth/tokens/token-documents.js';
import { ASYMMETRIC_ALGORITHMS } from '../auth/tokens/token-options.js';
import { booleanOf, listOf, type ReadVariable } from './variables.js';

/** The tokens that a ready-made server takes. `tokenAuthenticator` makes the authenticator for them. */
export interface TokenConfig {
  /** True if the issuer is an OpenID Connect provider whose discovery document names the keys. */
  readonly discovers: boolean;
  readonly issuer: string;
  /** The url of the keys, if nothing is discovered. */
  readonly jwksUrl?: string;
  readonly audience: readonly string[];
  readonly algorithms?: readonly string[];
  readonly requiredScopes?: readonly string[];
  /** The claim with the tenants of a user. */
  readonly tenantClaim?: string;
  /** Private hosts that may be called for keys. */
  readonly allow?: readonly string[];
  readonly plainHttp?: boolean;
}

/** The variables that `readTokenConfig` reads. */
export const TOKEN_NAMES = [
  'A2A_OIDC_ISSUER',
  'A2A_JWT_ISSUER',
  'A2A_JWKS_URL',
  'A2A_JWT_AUDIENCE',
  'A2A_JWT_ALGORITHMS',
  'A2A_REQUIRED_SCOPES',
  'A2A_TENANT_CLAIM',
  'A2A_AUTH_ALLOW_HOSTS',
  'A2A_AUTH_PLAIN_HTTP',
] as const;

/** The tokens that the environment asks for; `undefined` if it names no issuer. Adds to the problems. */
export function readTokenConfig(
  read: ReadVariable<(typeof TOKEN_NAMES)[number]>,
  problems: string[],
): TokenConfig | undefined {
  const plainHttp = read('A2A_AUTH_PLAIN_HTTP', booleanOf, 'true or false');
  const url = (text: string) => (urlFault(text, plainHttp === true) === undefined ? text : undefined);
  const right = 'an https url; A2A_AUTH_PLAIN_HTTP=true allows http';
  const openId = read('A2A_OIDC_ISSUER', url, right);
  const jwtIssuer = read('A2A_JWT_ISSUER', url, right);
  const jwksUrl = read('A2A_JWKS_URL', url, right);
  const audience = read('A2A_JWT_AUDIENCE', (text) => listOf(text), 'audiences, separated by commas');
  const algorithms = read('A2A_JWT_ALGORITHMS', algorithmsOf, `some of ${ASYMMETRIC_ALGORITHMS.join(', ')}`);
  const requiredScopes = read('A2A_REQUIRED_SCOPES', scopesOf, 'scopes, separated by blanks or commas');
  const tenantClaim = read('A2A_TENANT_CLAIM', (text) => text, 'the name of a claim');
  const allow = read(
    'A2A_AUTH_ALLOW_HOSTS',
    (text) => listOf(text),
    'hosts such as keycloak.internal:8080, separated by commas',
  );
  const issuer = openId ?? jwtIssuer;
  if (openId !== undefined && (jwtIssuer !== undefined || jwksUrl !== undefined))
    problems.push('A2A_OIDC_ISSUER stands alone: its discovery document names the keys');
  if (openId === undefined && (jwtIssuer === undefined) !== (jwksUrl === undefined))
    problems.push('A2A_JWT_ISSUER and A2A_JWKS_URL belong together');
  if (issuer === undefined) {
    if (audience ?? algorithms ?? requiredScopes ?? tenantClaim)
      problems.push('settings of tokens need A2A_OIDC_ISSUER, or A2A_JWT_ISSUER and A2A_JWKS_URL');
    return undefined;
  }
  if (audience === undefined) problems.push('A2A_JWT_AUDIENCE must name this agent as the issuer of tokens does');
  return {
    discovers: openId !== undefined,
    issuer,
    ...(jwksUrl !== undefined && { jwksUrl }),
    audience: audience ?? [],
    ...(algorithms && { algorithms }),
    ...(requiredScopes && { requiredScopes }),
    ...(tenantClaim !== undefined && { tenantClaim }),
    ...(allow && { allow }),
    ...(plainHttp !== undefined && { plainHttp }),
  };
}

function algorithmsOf(text: string): readonly string[] | undefined {
  const known: readonly string[] = ASYMMETRIC_ALGORITHMS;
  const named = listOf(text);
  return named?.every((name) => known.includes(name)) ? named : undefined;
}

function scopesOf(text: string): readonly string[] | undefined {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  return scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope)) ? scopes : undefined;
}
