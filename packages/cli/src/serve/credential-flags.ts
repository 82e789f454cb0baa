import type { Logger } from 'parley-a2a';
import { type A2AHostOptions, type CredentialConfig, credentialAuthenticator } from 'parley-a2a/node';
import type { FlagName } from '../command-line/flags.js';
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
  const apiKeyPlace = keyPlaceOf(settings.text('api-key-place'));
  if (apiKeyPlace !== undefined && apiKeysFile === undefined) throw usageError('--api-key-place needs --api-keys-file');
  const forwardedCertificates = forwardedOf(settings);
  const require = oneOf('auth-require', ['any', 'all', 'all-users'], settings);
  const basicUsersFile = settings.text('basic-users-file');
  const tokens = await tokenAuthenticatorOf(settings, {
    logger,
    ...(forwardedCertificates && { forwardedCertificates }),
  });
  const authenticator = await credentialAuthenticator(
    {
      ...(apiKeysFile !== undefined && { apiKeysFile }),
      ...(apiKeyPlace !== undefined && { apiKeyPlace }),
      ...(basicUsersFile !== undefined && { basicUsersFile }),
      ...(ca !== undefined && { clientCertificates: true }),
      ...(forwardedCertificates && { forwardedCertificates }),
      ...(require !== undefined && { require }),
    },
    { logger, others: tokens === undefined ? [] : [tokens] },
  );
  return {
    ...(authenticator && { authenticator }),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...(ca !== undefined && { ca }) } }),
  };
}

function forwardedOf(settings: Settings): CredentialConfig['forwardedCertificates'] {
  const proxies = settings.list('client-cert-proxy');
  const format = oneOf('client-cert-format', ['envoy', 'nginx', 'rfc9440'], settings);
  if ((proxies.length === 0) !== (format === undefined))
    throw usageError('--client-cert-proxy and --client-cert-format belong together');
  if (format === undefined) return undefined;
  return { proxies, format };
}

/** The place of a text such as `header:X-Agent-Key`; the library checks its name. */
function keyPlaceOf(text: string | undefined): CredentialConfig['apiKeyPlace'] {
  if (text === undefined || text === 'bearer') return text;
  const [, place, name = ''] = /^(header|query|cookie):(.+)$/.exec(text) ?? [];
  const location = (['header', 'query', 'cookie'] as const).find((one) => one === place);
  if (location === undefined)
    throw usageError(`--api-key-place is header:<name>, query:<name>, cookie:<name> or bearer, not "${text}"`);
  return { location, name };
}

/**
 * The word of a flag; `undefined` without the flag.
 * @throws CliError for another word.
 */
export function oneOf<Word extends string>(
  flag: FlagName,
  words: readonly Word[],
  settings: Settings,
): Word | undefined {
  const text = settings.text(flag);
  const word = words.find((one) => one === text);
  if (text !== undefined && word === undefined) throw usageError(`--${flag} is ${words.join(', ')}, not "${text}"`);
  return word;
}
