import { type ForwardedCertificates, forwardedSchema } from '../auth/schemes/forwarded-certificate.js';
import { urlFault } from '../auth/tokens/token-documents.js';
import { flag, type OptionSchemas, optionObject, text, texts } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { TOKEN_SETTINGS } from './server-settings.js';
import { definedOf, type SettingReader, type SettingValues } from './setting-reader.js';

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
  introspection: Type.Optional(optionObject(introspection)),
  algorithms: Type.Optional(texts),
  requiredScopes: Type.Optional(texts),
  tenantClaim: optionalText,
  allow: Type.Optional(texts),
  plainHttp: Type.Optional(flag),
  forwarded: Type.Optional(forwardedSchema),
};

/** The schema of TokenConfig. */
export const tokenConfigSchema = optionObject(schemas);

type Values = SettingValues<typeof TOKEN_SETTINGS>;

/** The tokens of settings; `undefined` if they name no issuer. Refuses settings that do not go together. */
export function tokensOf(values: Values, reader: SettingReader): TokenConfig | undefined {
  const { oidcIssuer, jwtIssuer, jwksUrl, introspectionIssuer, jwtAudience, jwtAlgorithms, authPlainHttp } = values;
  const { requiredScopes, tenantClaim, authAllowHosts } = values;
  for (const name of URLS) {
    const url = values[name];
    if (url !== undefined && !authPlainHttp && urlFault(url, false) !== undefined) reader.refuseForm(name);
  }
  const introspection = introspectionOf(values, reader);
  const issuer = oidcIssuer ?? jwtIssuer ?? introspectionIssuer;
  if (oidcIssuer !== undefined && (jwtIssuer ?? jwksUrl) !== undefined)
    reader.refuse('{oidcIssuer} stands alone: its discovery document names the keys');
  if (introspectionIssuer !== undefined && (oidcIssuer ?? jwtIssuer) !== undefined)
    reader.refuse('{introspectionIssuer} stands alone: it is asked about each token');
  if (oidcIssuer === undefined && (jwtIssuer === undefined) !== (jwksUrl === undefined))
    reader.refuse('{jwtIssuer} and {jwksUrl} belong together');
  if (issuer === undefined) {
    const ofTokens = ['jwtAudience', 'jwtAlgorithms', 'requiredScopes', 'tenantClaim'] as const;
    const lonely = ofTokens.find((name) => values[name] !== undefined);
    if (lonely) reader.refuse(`{${lonely}} needs {oidcIssuer}, {introspectionIssuer}, or {jwtIssuer} and {jwksUrl}`);
    return undefined;
  }
  if (jwtAudience === undefined && introspectionIssuer === undefined)
    reader.refuse('{jwtAudience} must name this agent as the issuer of tokens does');
  return {
    discovers: oidcIssuer !== undefined,
    issuer,
    audience: jwtAudience ?? [],
    ...definedOf({
      jwksUrl,
      introspection,
      algorithms: jwtAlgorithms,
      requiredScopes,
      tenantClaim,
      allow: authAllowHosts,
      plainHttp: authPlainHttp || undefined,
    }),
  };
}

const URLS = [
  ...(['oidcIssuer', 'jwtIssuer', 'jwksUrl', 'introspectionIssuer', 'introspectionUrl', 'tokenUrl'] as const),
];

/** The client of the authorization server that is asked about tokens; `undefined` if no setting names one. */
function introspectionOf(values: Values, reader: SettingReader): IntrospectionConfig | undefined {
  const { introspectionIssuer, introspectionUrl: endpoint, tokenUrl } = values;
  const { introspectionClientId: clientId, introspectionClientSecret: clientSecret } = values;
  if (introspectionIssuer === undefined) {
    const ofIntrospection = ['introspectionClientId', 'introspectionClientSecret', 'introspectionUrl', 'tokenUrl'];
    const lonely = ofIntrospection.find((name) => values[name as keyof Values] !== undefined);
    if (lonely !== undefined) reader.refuse(`{${lonely}} needs {introspectionIssuer}`);
    return undefined;
  }
  if (clientId === undefined || clientSecret === undefined || tokenUrl === undefined) {
    const needed = '{introspectionClientId}, {introspectionClientSecret} and {tokenUrl}';
    reader.refuse(`{introspectionIssuer} needs ${needed}`);
    return undefined;
  }
  return { clientId, clientSecret, tokenUrl, ...definedOf({ endpoint }) };
}
