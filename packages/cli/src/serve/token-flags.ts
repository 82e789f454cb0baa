import type { Logger } from 'parley-a2a';
import type { Authenticator } from 'parley-a2a/auth';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';

/**
 * The authenticator for the tokens that the flags name; `undefined` without such flags.
 * @throws CliError if flags are missing, OptionsError if one has a wrong value.
 */
export async function tokenAuthenticatorOf(settings: Settings, logger: Logger): Promise<Authenticator | undefined> {
  const openId = settings.text('oidc-issuer');
  const jwksUrl = settings.text('jwks-url');
  const issuer = openId ?? settings.text('jwt-issuer');
  const audience = settings.list('jwt-audience');
  if (openId !== undefined && (jwksUrl !== undefined || settings.text('jwt-issuer') !== undefined))
    throw usageError('--oidc-issuer stands alone: its discovery document names the keys');
  if (openId === undefined && (issuer === undefined) !== (jwksUrl === undefined))
    throw usageError('--jwt-issuer and --jwks-url belong together');
  if (issuer === undefined) {
    if (audience.length > 0) throw usageError('--jwt-audience needs --oidc-issuer, or --jwt-issuer and --jwks-url');
    return undefined;
  }
  if (audience.length === 0) throw usageError('--jwt-audience must name this agent as the issuer of tokens does');
  const { tokenAuthenticator } = await import('parley-a2a/auth');
  const config = {
    discovers: openId !== undefined,
    issuer,
    audience,
    ...(jwksUrl !== undefined && { jwksUrl }),
    requiredScopes: settings.list('required-scope').flatMap((scopes) => scopes.split(/\s+/)),
    allow: settings.list('auth-allow-host'),
  };
  return tokenAuthenticator(config, { logger });
}
