import { type ApiKey, apiKeyProblems } from '../auth/schemes/api-key.js';
import type { TlsOptions } from './options/tls-options.js';
import type { ReadVariable } from './variables.js';

/** The credentials that a ready-made server takes. `credentialAuthenticator` makes the authenticator for them. */
export interface CredentialConfig {
  readonly apiKeys?: readonly ApiKey[];
  /** A file of API keys, read again when it changes. */
  readonly apiKeysFile?: string;
  /** A file of names and password hashes, read again when it changes. */
  readonly basicUsersFile?: string;
  /** True if a verified certificate of a client proves a user: its common name. */
  readonly clientCertificates?: boolean;
}

/** The variables that `readCredentialConfig` reads. */
export const CREDENTIAL_NAMES = [
  'A2A_API_KEYS',
  'A2A_API_KEYS_FILE',
  'A2A_BASIC_USERS_FILE',
  'A2A_TLS_CERT',
  'A2A_TLS_KEY',
  'A2A_TLS_CLIENT_CA',
] as const;

const path = (text: string) => text;

/** The credentials and the TLS that the environment asks for. Adds to the problems. */
export function readCredentialConfig(
  read: ReadVariable<(typeof CREDENTIAL_NAMES)[number]>,
  problems: string[],
): { readonly credentials?: CredentialConfig; readonly tls?: TlsOptions } {
  const apiKeys = read('A2A_API_KEYS', apiKeysOf, 'subject=key or subject=sha256:hash, separated by commas');
  const apiKeysFile = read('A2A_API_KEYS_FILE', path, 'a path');
  const basicUsersFile = read('A2A_BASIC_USERS_FILE', path, 'a path');
  const cert = read('A2A_TLS_CERT', path, 'a path');
  const key = read('A2A_TLS_KEY', path, 'a path');
  const ca = read('A2A_TLS_CLIENT_CA', path, 'a path');
  if ((cert === undefined) !== (key === undefined)) problems.push('A2A_TLS_CERT and A2A_TLS_KEY belong together');
  if (ca !== undefined && cert === undefined) problems.push('A2A_TLS_CLIENT_CA needs A2A_TLS_CERT and A2A_TLS_KEY');
  const credentials = {
    ...(apiKeys && { apiKeys }),
    ...(apiKeysFile !== undefined && { apiKeysFile }),
    ...(basicUsersFile !== undefined && { basicUsersFile }),
    ...(ca !== undefined && { clientCertificates: true }),
  };
  return {
    ...(Object.keys(credentials).length > 0 && { credentials }),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...(ca !== undefined && { ca }) } }),
  };
}

/** `ada=key` and `bob=sha256:hash`, separated by commas. */
function apiKeysOf(text: string): readonly ApiKey[] | undefined {
  const keys = text.split(',').map((entry): ApiKey => {
    const mark = entry.indexOf('=');
    const subject = entry.slice(0, Math.max(mark, 0)).trim();
    const value = entry.slice(mark + 1).trim();
    return value.startsWith('sha256:') ? { subject, sha256: value.slice(7) } : { subject, key: value };
  });
  return keys.flatMap(apiKeyProblems).length > 0 ? undefined : keys;
}
