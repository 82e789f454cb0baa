import type { OAuthFlows, SecurityScheme } from '../../model/security-scheme.js';
import { checkOptions } from '../../options/check-options.js';
import { eitherOf, flag, mapOf, type OptionSchemas, optionObject, text, texts } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { clientAuthenticationSchema } from '../oauth/oauth-options.js';
import { type IntrospectionOptions, introspectionCheck } from './introspection.js';
import { jwtCheck, toleranceOf } from './jwt-check.js';
import { TokenAuthenticator, type TokenSchemeSetup } from './token-authenticator.js';
import { oauthMetadataUrl, openIdMetadataUrl, urlFault } from './token-documents.js';
import {
  ASYMMETRIC_ALGORITHMS,
  type JwtRules,
  jwtProblems,
  jwtSchemas,
  refuseProblems,
  type TokenOptions,
  type TokenRuntime,
  tokenProblems,
  tokenSchemas,
} from './token-options.js';

type MemberOf<Union> = Union extends unknown ? keyof Union : never;

/** The flows by which clients get tokens. The card has one scheme for each (Spec §4.5.7). */
export type OAuth2Flows = {
  readonly [Name in MemberOf<OAuthFlows>]?: Extract<OAuthFlows, Readonly<Record<Name, unknown>>>[Name];
};

interface OAuth2Description extends TokenOptions {
  readonly flows: OAuth2Flows;
  /** Location of the metadata of the issuer (RFC 8414). Part of the card. */
  readonly metadataUrl?: string;
}

/** Options of `OAuth2` for access tokens that are JWTs (RFC 9068). */
export interface OAuth2JwtOptions extends OAuth2Description, JwtRules {
  /** URL of the public keys. Absent: the metadata of the issuer names it. */
  readonly jwksUrl?: string;
  readonly introspection?: never;
}

/** Options of `OAuth2` for tokens that only the authorization server can read (RFC 7662). */
export interface OAuth2IntrospectionOptions extends OAuth2Description {
  readonly introspection: IntrospectionOptions;
  /** The `aud` that a token must have. Absent: any. */
  readonly audience?: string | readonly string[];
}

/** Options of `OAuth2`. */
export type OAuth2Options = OAuth2JwtOptions | OAuth2IntrospectionOptions;

const optionalUrl = Type.Optional(text);
const flowScopes = mapOf(text);
/** The members of each flow (Spec §4.5.8 and following). */
const flows: { readonly [Name in keyof Required<OAuth2Flows>]: Type.TSchema } = {
  authorizationCode: optionObject({
    authorizationUrl: text,
    tokenUrl: text,
    refreshUrl: optionalUrl,
    scopes: flowScopes,
    pkceRequired: Type.Optional(flag),
  }),
  clientCredentials: optionObject({ tokenUrl: text, refreshUrl: optionalUrl, scopes: flowScopes }),
  deviceCode: optionObject({
    deviceAuthorizationUrl: text,
    tokenUrl: text,
    refreshUrl: optionalUrl,
    scopes: flowScopes,
  }),
  implicit: optionObject({ authorizationUrl: optionalUrl, refreshUrl: optionalUrl, scopes: Type.Optional(flowScopes) }),
  password: optionObject({ tokenUrl: optionalUrl, refreshUrl: optionalUrl, scopes: Type.Optional(flowScopes) }),
};
const described: OptionSchemas<OAuth2Description> = {
  ...tokenSchemas,
  flows: Type.Optional(
    optionObject(Object.fromEntries(Object.entries(flows).map(([name, flow]) => [name, Type.Optional(flow)]))),
  ),
  metadataUrl: optionalUrl,
};
const introspection: OptionSchemas<IntrospectionOptions> = {
  clientId: Type.Optional(Type.Unknown()),
  clientSecret: Type.Optional(text),
  authentication: Type.Optional(clientAuthenticationSchema),
  endpoint: optionalUrl,
};
const jwtSchema = optionObject({ ...described, ...jwtSchemas, jwksUrl: optionalUrl });
/** Rules of JWTs would not hold for tokens that only the authorization server reads. */
const introspectionSchema = optionObject({
  ...described,
  introspection: optionObject(introspection),
  audience: Type.Optional(eitherOf([text, texts], 'must be a text or a list of texts')),
});

/** The claims that every JWT access token has (RFC 9068 §2.2), beside those that are always checked. */
const ACCESS_TOKEN_CLAIMS = ['sub', 'client_id', 'iat', 'jti'];

/**
 * Access tokens of an OAuth 2 authorization server: JWTs (RFC 9068), or any tokens by introspection (RFC 7662). If the
 * server cannot be asked, calls get 503.
 */
export class OAuth2 extends TokenAuthenticator {
  /** @throws OptionsError naming every wrong option. */
  constructor(options: OAuth2Options, runtime: TokenRuntime) {
    const schema = options?.introspection === undefined ? jwtSchema : introspectionSchema;
    checkOptions({ subject: 'OAuth2', schema, options });
    refuseProblems('OAuth2', problemsOf(options));
    const { issuer, metadataUrl } = options;
    const metadataUrls =
      metadataUrl === undefined ? [oauthMetadataUrl(issuer), openIdMetadataUrl(issuer)] : [metadataUrl];
    super({
      options,
      runtime,
      securitySchemes: schemesOf(options),
      ...(options.introspection === undefined
        ? jwtParts(options, { metadataUrls, runtime })
        : introspectionParts(options, { metadataUrls, runtime })),
    });
  }
}

type Parts = Pick<TokenSchemeSetup, 'check' | 'toleranceSeconds'>;
interface PartsSources {
  readonly metadataUrls: readonly string[];
  readonly runtime: TokenRuntime;
}

function jwtParts(options: OAuth2JwtOptions, { metadataUrls, runtime }: PartsSources): Parts {
  const { issuer, jwksUrl } = options;
  const check = jwtCheck({
    options,
    runtime,
    source: {
      url: async (documents) =>
        jwksUrl ?? documents.endpoint((await documents.metadata(issuer, metadataUrls)).jwks_uri, 'jwks_uri'),
    },
    defaults: { algorithms: ASYMMETRIC_ALGORITHMS, types: ['at+jwt'], requiredClaims: ACCESS_TOKEN_CLAIMS },
  });
  return { check, toleranceSeconds: toleranceOf(options) };
}

function introspectionParts(options: OAuth2IntrospectionOptions, sources: PartsSources): Parts {
  const { introspection, audience } = options;
  const audiences = typeof audience === 'string' ? [audience] : audience;
  return {
    check: introspectionCheck({ options, introspection, audience: audiences, ...sources }),
    toleranceSeconds: 0,
  };
}

function schemesOf({ flows, metadataUrl, schemeName = 'oauth2' }: OAuth2Options): Record<string, SecurityScheme> {
  const entries = Object.entries(flows ?? {});
  return Object.fromEntries(
    entries.map(([flow, value]) => [
      entries.length === 1 ? schemeName : `${schemeName}-${flow}`,
      {
        oauth2SecurityScheme: {
          flows: { [flow]: value } as unknown as OAuthFlows,
          ...(metadataUrl !== undefined && { oauth2MetadataUrl: metadataUrl }),
        },
      },
    ]),
  );
}

function problemsOf(options: OAuth2Options): string[] {
  const { flows = {}, metadataUrl, plainHttp = false } = options;
  const problems = tokenProblems(options);
  if (Object.keys(flows).length === 0) problems.push('flows must say how clients get a token');
  const urls: [string, string | undefined][] = [['metadataUrl', metadataUrl]];
  if (options.introspection === undefined) {
    problems.push(...jwtProblems(options, ASYMMETRIC_ALGORITHMS));
    urls.push(['jwksUrl', options.jwksUrl]);
  } else {
    const { clientId, endpoint } = options.introspection;
    if (typeof clientId !== 'string' || clientId === '') problems.push('introspection.clientId must not be empty');
    urls.push(['introspection.endpoint', endpoint]);
  }
  for (const [name, url] of urls) {
    const fault = url === undefined ? undefined : urlFault(url, plainHttp);
    if (fault !== undefined) problems.push(`${name} ${fault}`);
  }
  return problems;
}
