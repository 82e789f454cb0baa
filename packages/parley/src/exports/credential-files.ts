/** Files of credentials, and the authenticator of a ready-made server. */

import { credentialFile } from '../adapters/node/credential-file.js';
import { type CredentialConfig, credentialSchema } from '../app/credential-config.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { ClientCertificate } from '../auth/client-certificate.js';
import type { ApiKey } from '../auth/schemes/api-key.js';
import type { BasicUser } from '../auth/schemes/basic-users.js';
import { OptionsError } from '../errors/options-error.js';
import { checkOptions } from '../options/check-options.js';
import { type OptionSchemas, optionObject, withMethod } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { Logger } from '../telemetry/logger.js';
import { ApiKeys, allOf, anyOf, BasicUsers, ClientCertificates } from './auth.js';

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
  /** Logs failures to reload a file. */
  readonly logger?: Logger;
  /** Further authenticators, such as `tokenAuthenticator`. */
  readonly others?: readonly Authenticator[];
}

const optionSchemas: OptionSchemas<CredentialOptions> = {
  logger: Type.Optional(withMethod('error')),
  others: Type.Optional(Type.Array(withMethod('authenticate'))),
};
const credentialOptionsSchema = optionObject(optionSchemas);

/**
 * Makes the authenticator for the credentials that `readServerConfig` found in the environment. A request needs one of
 * them, or all of them, as the member `require` says. `undefined` if there are none.
 * @throws OptionsError if a file cannot be read or has invalid entries, or if all credentials are needed and there is
 * one kind only.
 */
export async function credentialAuthenticator(
  config: CredentialConfig = {},
  options: CredentialOptions = {},
): Promise<Authenticator | undefined> {
  const subject = 'credentialAuthenticator';
  checkOptions({ subject, schema: credentialSchema, options: config });
  const { logger, others = [] } = checkOptions({ subject, schema: credentialOptionsSchema, options });
  const { apiKeys = [], apiKeysFile: keysPath, basicUsersFile: usersPath, clientCertificates } = config;
  const { apiKeyPlace: place, forwardedCertificates: forwarded, require } = config;
  const log = logger && { logger };
  const placed = place && { place };
  const members = [...others];
  if (keysPath !== undefined) {
    const read = apiKeysFile(keysPath);
    const all = await joinedKeys(apiKeys, read)();
    new ApiKeys(all);
    members.push(new ApiKeys(joinedKeys(apiKeys, read), { ...placed, ...log }));
  } else if (apiKeys.length > 0) members.push(new ApiKeys(apiKeys, { ...placed }));
  if (usersPath !== undefined) {
    const read = basicUsersFile(usersPath);
    const users = new BasicUsers([]);
    await users.replace(await read());
    members.push(new BasicUsers(read, { ...log }));
  }
  const certificates = [
    ...(clientCertificates === true ? [new ClientCertificates(byCommonName)] : []),
    ...(forwarded === undefined ? [] : [new ClientCertificates(byCommonName, { forwarded })]),
  ];
  if (certificates.length > 0) members.push(anyOf(...certificates));
  const [first] = members;
  const needsAll = require !== undefined && require !== 'any';
  if (members.length < 2) {
    if (needsAll) throw new OptionsError(subject, [`require: ${require} needs two kinds of credentials`]);
    return first;
  }
  return needsAll ? allOf(...members, { differentUsers: require === 'all-users' }) : anyOf(...members);
}

/** The keys of the environment and of a file. Returns the same array if nothing has changed. */
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

/** The user of a certificate with exactly one common name, whose subject is that name. */
function byCommonName({ subject: { CN: commonNames = [] } }: ClientCertificate) {
  const [subject] = commonNames;
  return commonNames.length === 1 && subject ? { subject, name: subject } : undefined;
}
