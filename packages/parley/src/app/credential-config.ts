import type { ApiKey } from '../auth/schemes/api-key.js';
import { type ForwardedCertificates, forwardedSchema } from '../auth/schemes/forwarded-certificate.js';
import { type KeyPlace, keyPlaceSchema } from '../auth/schemes/key-places.js';
import { flag, nonEmpty, type OptionSchemas, optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { TlsOptions } from './options/tls-options.js';
import type { CREDENTIAL_SETTINGS } from './server-settings.js';
import { REQUIRED_CREDENTIALS } from './setting-forms.js';
import { definedOf, type SettingReader, type SettingValues } from './setting-reader.js';

/** The credentials that a ready-made server takes. `credentialAuthenticator` makes the authenticator for them. */
export interface CredentialConfig {
  readonly apiKeys?: readonly ApiKey[];
  /** A file of API keys, read again when it changes. */
  readonly apiKeysFile?: string;
  /** The place of API keys in requests. Absent: the header `X-API-Key`. */
  readonly apiKeyPlace?: KeyPlace;
  /** A file of names and password hashes, read again when it changes. */
  readonly basicUsersFile?: string;
  /** True if a verified certificate of a client proves a user: its common name. */
  readonly clientCertificates?: boolean;
  /** The proxies that tell the certificate of the client. Its common name is the user. */
  readonly forwardedCertificates?: ForwardedCertificates;
  /**
   * The credentials that a caller needs, if there are several kinds. `any`: one of them. `all`: one of each kind, of
   * the same subject. `all-users`: one of each kind, also of different subjects. Absent: `any`.
   */
  readonly require?: RequiredCredentials;
}

/** The credentials that a caller needs, if there are several kinds. */
type RequiredCredentials = (typeof REQUIRED_CREDENTIALS)[number];

const schemas: OptionSchemas<CredentialConfig> = {
  // `ApiKeys` checks each entry.
  apiKeys: Type.Optional(Type.Array(Type.Object({}))),
  apiKeysFile: Type.Optional(nonEmpty),
  apiKeyPlace: Type.Optional(keyPlaceSchema),
  basicUsersFile: Type.Optional(nonEmpty),
  clientCertificates: Type.Optional(flag),
  forwardedCertificates: Type.Optional(forwardedSchema),
  require: Type.Optional(Type.String({ enum: REQUIRED_CREDENTIALS })),
};

/** The schema of CredentialConfig. */
export const credentialSchema = optionObject(schemas);

/** The credentials and the TLS of settings. Refuses settings that do not go together. */
export function credentialsOf(
  values: SettingValues<typeof CREDENTIAL_SETTINGS>,
  reader: SettingReader,
): { readonly credentials?: CredentialConfig; readonly tls?: TlsOptions } {
  const { apiKeys, apiKeysFile, apiKeyPlace, basicUsersFile, authRequire } = values;
  const { tlsCert: cert, tlsKey: key, tlsClientCa: ca, clientCertProxies: proxies, clientCertFormat: format } = values;
  if ((cert === undefined) !== (key === undefined)) reader.refuse('{tlsCert} and {tlsKey} belong together');
  if (ca !== undefined && cert === undefined) reader.refuse('{tlsClientCa} needs {tlsCert} and {tlsKey}');
  if ((proxies === undefined) !== (format === undefined))
    reader.refuse('{clientCertProxies} and {clientCertFormat} belong together');
  if (apiKeyPlace !== undefined && (apiKeys ?? apiKeysFile) === undefined)
    reader.refuse('{apiKeyPlace} needs API keys: set {apiKeysFile}');
  const credentials = definedOf({
    apiKeys,
    apiKeysFile,
    apiKeyPlace,
    basicUsersFile,
    clientCertificates: ca === undefined ? undefined : true,
    forwardedCertificates: proxies === undefined || format === undefined ? undefined : { proxies, format },
    require: authRequire,
  });
  return {
    ...(Object.keys(credentials).length > 0 && { credentials }),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...definedOf({ ca }) } }),
  };
}
