import type { Logger } from 'parley-a2a';
import type { Authenticator, IntrospectionConfig } from 'parley-a2a/auth';
import type { CredentialConfig } from 'parley-a2a/node';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';

/** Parts of the authenticator for tokens that other flags name. */
export interface TokenMeans extends Pick<CredentialConfig, 'forwardedCertificates'> {
  readonly logger: Logger;
}

/**
 * The authenticator for the tokens that the flags name; `undefined` without such flags.
 * @throws CliError if flags are missing, OptionsError if one has a wrong value.
 */
export async function tokenAuthenticatorOf(
  settings: Settings,
  { logger, forwardedCertificates: forwarded }: TokenMeans,
): Promise<Authenticator | undefined> {
  const openId = settings.text('oidc-issuer');
  const jwksUrl = settings.text('jwks-url');
  const jwtIssuer = settings.text('jwt-issuer');
  const asked = settings.text('introspection-issuer');
  const issuer = openId ?? jwtIssuer ?? asked;
  const audience = settings.list('jwt-audience');
  if (openId !== undefined && (jwksUrl !== undefined || jwtIssuer !== undefined))
    throw usageError('--oidc-issuer stands alone: its discovery document names the keys');
  if (openId === undefined && (jwtIssuer === undefined) !== (jwksUrl === undefined))
    throw usageError('--jwt-issuer and --jwks-url belong together');
  if (asked !== undefined && (openId ?? jwtIssuer) !== undefined)
    throw usageError('--introspection-issuer stands alone: it is asked about each token');
  const introspection = introspectionOf(settings, asked);
  if (issuer === undefined) {
    if (audience.length > 0) throw usageError('--jwt-audience needs --oidc-issuer, or --jwt-issuer and --jwks-url');
    return undefined;
  }
  if (audience.length === 0 && asked === undefined)
    throw usageError('--jwt-audience must name this agent as the issuer of tokens does');
  const { tokenAuthenticator } = await import('parley-a2a/auth');
  const algorithms = settings.list('jwt-algorithm');
  const tenantClaim = settings.text('tenant-claim');
  const config = {
    discovers: openId !== undefined,
    issuer,
    audience,
    ...(jwksUrl !== undefined && { jwksUrl }),
    ...(introspection && { introspection }),
    ...(algorithms.length > 0 && { algorithms }),
    ...(tenantClaim !== undefined && { tenantClaim }),
    ...(forwarded && { forwarded }),
    requiredScopes: settings.list('required-scope').flatMap((scopes) => scopes.split(/\s+/)),
    allow: settings.list('auth-allow-host'),
    plainHttp: settings.isOn('auth-plain-http'),
  };
  return tokenAuthenticator(config, { logger });
}

const INTROSPECTION = ['introspection-client-id', 'introspection-client-secret', 'token-url'] as const;

function introspectionOf(settings: Settings, issuer: string | undefined): IntrospectionConfig | undefined {
  const [clientId, clientSecret, tokenUrl] = INTROSPECTION.map((name) => settings.text(name));
  const endpoint = settings.text('introspection-url');
  if (issuer === undefined) {
    if ((clientId ?? clientSecret ?? tokenUrl ?? endpoint) !== undefined)
      throw usageError(`--${INTROSPECTION.join(', --')} and --introspection-url need --introspection-issuer`);
    return undefined;
  }
  if (clientId === undefined || clientSecret === undefined || tokenUrl === undefined)
    throw usageError(`--introspection-issuer needs --${INTROSPECTION.join(', --')}`);
  return { clientId, clientSecret, tokenUrl, ...(endpoint !== undefined && { endpoint }) };
}
