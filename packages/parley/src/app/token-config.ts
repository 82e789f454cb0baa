import { type ForwardedCertificates, forwardedSchema } from '../auth/schemes/forwarded-certificate.js';
import { urlFault } from '../auth/tokens/token-documents.js';
import { ASYMMETRIC_ALGORITHMS } from '../auth/tokens/token-options.js';
import { closed, flag, type OptionSchemas, text, texts } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { booleanOf, listOf, type ReadVariable } from './variables.js';

/** The tokens that a ready-made server takes. `tokenAuthenticator` makes the authenticator for them. */
export interface TokenConfig {
  /** True if the issuer is an OpenID Connect provider whose discovery document names the keys. */
  readonly discovers: boolean;
  readonly issuer: string;
  /** The url of the keys, if nothing is discovered. */
  readonly jwksUrl?: string;
  /** Empty for any audience, which introspection allows. */
  readonly audience: readonly string[];
  /** The client of an authorization server that is asked about each token (RFC 7662). */
  readonly introspection?: IntrospectionConfig;
  readonly algorithms?: readonly string[];
  readonly requiredScopes?: readonly string[];
  /** The claim with the tenants of a user. */
  readonly tenantClaim?: string;
  /** Private hosts that may be called for keys. */
  readonly allow?: readonly string[];
  readonly plainHttp?: boolean;
  /** The proxies that tell certificates, for tokens that are bound to one. */
  readonly forwarded?: ForwardedCertificates;
}

/** The server as a client of the introspection endpoint. */
export interface IntrospectionConfig {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Absent: the metadata of the issuer names it. */
  readonly endpoint?: string;
  /** The place where clients get tokens, for the card. */
  readonly tokenUrl: string;
}

const optionalText = Type.Optional(text);
const introspection: OptionSchemas<IntrospectionConfig> = {
  clientId: text,
  clientSecret: text,
  endpoint: optionalText,
  tokenUrl: text,
};
const schemas: OptionSchemas<TokenConfig> = {
  discovers: flag,
  issuer: text,
  jwksUrl: optionalText,
  audience: texts,
  introspection: Type.Optional(closed(introspection)),
  algorithms: Type.Optional(texts),
  requiredScopes: Type.Optional(texts),
  tenantClaim: optionalText,
  allow: Type.Optional(texts),
  plainHttp: Type.Optional(flag),
  forwarded: Type.Optional(forwardedSchema),
};

/** The schema of TokenConfig. */
export const tokenConfigSchema = closed(schemas);

/** The variables that `readTokenConfig` reads. */
export const TOKEN_NAMES = [
  'A2A_OIDC_ISSUER',
  'A2A_JWT_ISSUER',
  'A2A_JWKS_URL',
  'A2A_INTROSPECTION_ISSUER',
  'A2A_INTROSPECTION_CLIENT_ID',
  'A2A_INTROSPECTION_CLIENT_SECRET',
  'A2A_INTROSPECTION_URL',
  'A2A_TOKEN_URL',
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
  const asked = introspectionOf({ read, url, right, problems });
  const issuer = openId ?? jwtIssuer ?? asked?.issuer;
  if (openId !== undefined && (jwtIssuer !== undefined || jwksUrl !== undefined))
    problems.push('A2A_OIDC_ISSUER stands alone: its discovery document names the keys');
  if (asked !== undefined && (openId ?? jwtIssuer) !== undefined)
    problems.push('A2A_INTROSPECTION_ISSUER stands alone: it is asked about each token');
  if (openId === undefined && (jwtIssuer === undefined) !== (jwksUrl === undefined))
    problems.push('A2A_JWT_ISSUER and A2A_JWKS_URL belong together');
  if (issuer === undefined) {
    if (audience ?? algorithms ?? requiredScopes ?? tenantClaim)
      problems.push(
        'settings of tokens need A2A_OIDC_ISSUER, A2A_INTROSPECTION_ISSUER, or A2A_JWT_ISSUER and A2A_JWKS_URL',
      );
    return undefined;
  }
  if (audience === undefined && asked === undefined)
    problems.push('A2A_JWT_AUDIENCE must name this agent as the issuer of tokens does');
  return {
    discovers: openId !== undefined,
    issuer,
    ...(jwksUrl !== undefined && { jwksUrl }),
    audience: audience ?? [],
    ...(asked?.introspection && { introspection: asked.introspection }),
    ...(algorithms && { algorithms }),
    ...(requiredScopes && { requiredScopes }),
    ...(tenantClaim !== undefined && { tenantClaim }),
    ...(allow && { allow }),
    ...(plainHttp !== undefined && { plainHttp }),
  };
}

/** The authorization server that is asked about tokens; `undefined` if the environment names none. */
function introspectionOf({
  read,
  url,
  right,
  problems,
}: {
  readonly read: ReadVariable<(typeof TOKEN_NAMES)[number]>;
  readonly url: (text: string) => string | undefined;
  readonly right: string;
  readonly problems: string[];
}): { readonly issuer: string; readonly introspection?: IntrospectionConfig } | undefined {
  const issuer = read('A2A_INTROSPECTION_ISSUER', url, right);
  const clientId = read('A2A_INTROSPECTION_CLIENT_ID', (text) => text, 'the id of a client');
  const clientSecret = read('A2A_INTROSPECTION_CLIENT_SECRET', (text) => text, 'a secret');
  const endpoint = read('A2A_INTROSPECTION_URL', url, right);
  const tokenUrl = read('A2A_TOKEN_URL', url, right);
  if (issuer === undefined) {
    if (clientId ?? clientSecret ?? endpoint ?? tokenUrl)
      problems.push('settings of introspection need A2A_INTROSPECTION_ISSUER');
    return undefined;
  }
  if (clientId === undefined || clientSecret === undefined || tokenUrl === undefined) {
    const needed = 'A2A_INTROSPECTION_CLIENT_ID, A2A_INTROSPECTION_CLIENT_SECRET and A2A_TOKEN_URL';
    problems.push(`A2A_INTROSPECTION_ISSUER needs ${needed}`);
    return { issuer };
  }
  return { issuer, introspection: { clientId, clientSecret, tokenUrl, ...(endpoint !== undefined && { endpoint }) } };
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
