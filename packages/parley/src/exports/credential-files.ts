/** Files of credentials, and the authenticator of a ready-made server. */

import { credentialFile } from '../adapters/node/credential-file.js';
import type { CredentialConfig } from '../app/credential-config.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { ApiKey } from '../auth/schemes/api-key.js';
import type { BasicUser } from '../auth/schemes/basic-users.js';
import type { Logger } from '../telemetry/logger.js';
import { ApiKeys, anyOf, BasicUsers, ClientCertificates } from './auth.js';

/**
 * A JSON file of API keys for `ApiKeys`: a list of objects with `sha256` or `key`, `subject`, `scopes` and `expiresAt`.
 * It is read again when it changes.
 */
export function apiKeysFile(path: string): () => Promise<readonly ApiKey[]> {
  return credentialFile<ApiKey>(path);
}

/** A JSON file of users for `BasicUsers`, with `passwordHash` and `subject`. It is read again when it changes. */
export function basicUsersFile(path: string): () => Promise<readonly BasicUser[]> {
  return credentialFile<BasicUser>(path);
}

/** Options of `credentialAuthenticator`. */
export interface CredentialOptions {
  /** Gets failures to read a file again. */
  readonly logger?: Logger;
  /** Further authenticators, such as `tokenAuthenticator`. */
  readonly others?: readonly Authenticator[];
}

/**
 * The authenticator for the credentials that `readServerConfig` found in the environment. It takes each of them;
 * `undefined` if there are none.
 * @throws OptionsError if a file cannot be read, or has invalid entries.
 */
export async function credentialAuthenticator(
  { apiKeys = [], apiKeysFile: keysPath, basicUsersFile: usersPath, clientCertificates }: CredentialConfig = {},
  { logger, others = [] }: CredentialOptions = {},
): Promise<Authenticator | undefined> {
  const log = logger && { logger };
  const members = [...others];
  if (keysPath !== undefined) {
    const read = apiKeysFile(keysPath);
    const all = await joinedKeys(apiKeys, read)();
    new ApiKeys(all);
    members.push(new ApiKeys(joinedKeys(apiKeys, read), { ...log }));
  } else if (apiKeys.length > 0) members.push(new ApiKeys(apiKeys));
  if (usersPath !== undefined) {
    const read = basicUsersFile(usersPath);
    const users = new BasicUsers([]);
    await users.replace(await read());
    members.push(new BasicUsers(read, { ...log }));
  }
  if (clientCertificates === true) members.push(new ClientCertificates(({ subject: { CN = [] } }) => userOf(CN)));
  const [first] = members;
  return members.length > 1 ? anyOf(...members) : first;
}

/** The keys of the environment and of a file. The same array stands for the same keys. */
function joinedKeys(
  fixed: readonly ApiKey[],
  read: () => Promise<readonly ApiKey[]>,
): () => Promise<readonly ApiKey[]> {
  let last: { readonly entries: readonly ApiKey[]; readonly all: readonly ApiKey[] } | undefined;
  return async () => {
    const entries = await read();
    if (last?.entries !== entries) last = { entries, all: [...fixed, ...entries] };
    return last.all;
  };
}

/** The user with the only common name of a certificate. */
function userOf(commonNames: readonly string[]): { readonly subject: string; readonly name: string } | undefined {
  const [subject] = commonNames;
  return commonNames.length === 1 && subject ? { subject, name: subject } : undefined;
}
