/** Authenticators for tokens of authorization servers, with their ports. */

import { type TokenConfig, tokenConfigSchema } from '../app/token-config.js';
import type { Authenticator } from '../auth/authenticator.js';
import { type JwtBearerOptions, JwtBearer as JwtBearerScheme } from '../auth/tokens/jwt-bearer.js';
import { type OAuth2Options, OAuth2 as OAuth2Scheme } from '../auth/tokens/oauth2.js';
import { type OpenIdConnectOptions, OpenIdConnect as OpenIdConnectScheme } from '../auth/tokens/open-id-connect.js';
import type { TokenRuntime } from '../auth/tokens/token-options.js';
import { checkOptions } from '../options/check-options.js';
import { optionObject, withMethod } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { Logger } from '../telemetry/logger.js';
import { guardedFetch } from './guarded-fetch.js';
import { systemClock } from './runtime.js';

export type { IntrospectionConfig, TokenConfig } from '../app/token-config.js';
export type { ProtectedResource } from '../auth/authenticator.js';
export type { IntrospectionOptions } from '../auth/tokens/introspection.js';
export type { JwtBearerOptions } from '../auth/tokens/jwt-bearer.js';
export type {
  OAuth2Flows,
  OAuth2IntrospectionOptions,
  OAuth2JwtOptions,
  OAuth2Options,
} from '../auth/tokens/oauth2.js';
export type { OpenIdConnectOptions } from '../auth/tokens/open-id-connect.js';
export type { ClaimMapping, TokenClaims } from '../auth/tokens/token-claims.js';
export type { JwtRules, KeyTimes, TokenOptions } from '../auth/tokens/token-options.js';
export type { VerifiedTokensLimits } from '../auth/tokens/verified-tokens.js';

const runtime: TokenRuntime = {
  clock: systemClock,
  fetchAllowing: (allow) => guardedFetch({ allow }),
};

/**
 * JSON Web Tokens as an HTTP Bearer scheme (RFC 6750, RFC 7519), with keys by URL, given keys or a secret.
 * @throws OptionsError naming every wrong option.
 */
export class JwtBearer extends JwtBearerScheme {
  constructor(options: JwtBearerOptions) {
    super(options, runtime);
  }
}

/**
 * Access tokens of an OAuth 2 authorization server: JWTs (RFC 9068), or any tokens by introspection (RFC 7662).
 * @throws OptionsError naming every wrong option.
 */
export class OAuth2 extends OAuth2Scheme {
  constructor(options: OAuth2Options) {
    super(options, runtime);
  }
}

/**
 * JSON Web Tokens of an OpenID Connect provider, with the keys that its discovery document names.
 * @throws OptionsError naming every wrong option.
 */
export class OpenIdConnect extends OpenIdConnectScheme {
  constructor(options: OpenIdConnectOptions) {
    super(options, runtime);
  }
}

const tokenOptionsSchema = optionObject({ logger: Type.Optional(withMethod('warn')) });

/**
 * Makes the authenticator for the tokens that `readServerConfig` found in the environment. `logger` logs its failures.
 */
export function tokenAuthenticator(config: TokenConfig, options: { readonly logger?: Logger } = {}): Authenticator {
  const subject = 'tokenAuthenticator';
  checkOptions({ subject, schema: tokenConfigSchema, options: config });
  const { logger } = checkOptions({ subject, schema: tokenOptionsSchema, options });
  const { discovers, tenantClaim, introspection, audience, ...others } = config;
  const claims = tenantClaim === undefined ? {} : { claims: { tenants: tenantClaim } };
  const all = { ...others, audience, ...claims, ...(logger && { logger }) };
  if (introspection !== undefined) {
    const { tokenUrl, ...client } = introspection;
    const { audience: _, algorithms: __, jwksUrl: ___, ...rest } = all;
    const scopes = Object.fromEntries((others.requiredScopes ?? []).map((scope) => [scope, '']));
    const flows = { clientCredentials: { tokenUrl, scopes } };
    return new OAuth2({ ...rest, flows, introspection: client, ...(audience.length > 0 && { audience }) });
  }
  return discovers ? new OpenIdConnect(all) : new JwtBearer(all);
}
