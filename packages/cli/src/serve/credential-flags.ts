import type { Logger } from 'parley-a2a';
import { type A2AHostOptions, credentialAuthenticator } from 'parley-a2a/node';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import { tokenAuthenticatorOf } from './token-flags.js';

/**
 * The authenticator and the TLS that the flags name.
 * @throws CliError if flags are missing, OptionsError if a file is wrong.
 */
export async function credentialOptionsOf(
  settings: Settings,
  logger: Logger,
): Promise<Pick<A2AHostOptions, 'authenticator' | 'tls'>> {
  const [cert, key, ca] = (['tls-cert', 'tls-key', 'tls-client-ca'] as const).map((name) => settings.text(name));
  if ((cert === undefined) !== (key === undefined)) throw usageError('--tls-cert and --tls-key belong together');
  if (ca !== undefined && cert === undefined) throw usageError('--tls-client-ca needs --tls-cert and --tls-key');
  const apiKeysFile = settings.text('api-keys-file');
  const basicUsersFile = settings.text('basic-users-file');
  const tokens = await tokenAuthenticatorOf(settings, logger);
  const authenticator = await credentialAuthenticator(
    {
      ...(apiKeysFile !== undefined && { apiKeysFile }),
      ...(basicUsersFile !== undefined && { basicUsersFile }),
      ...(ca !== undefined && { clientCertificates: true }),
    },
    { logger, others: tokens === undefined ? [] : [tokens] },
  );
  return {
    ...(authenticator && { authenticator }),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...(ca !== undefined && { ca }) } }),
  };
}
