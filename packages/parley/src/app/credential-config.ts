import { type ApiKey, apiKeyProblems } from '../auth/schemes/api-key.js';
import { type ForwardedCertificates, forwardedSchema } from '../auth/schemes/forwarded-certificate.js';
import { type KeyPlace, keyPlaceOf, keyPlaceSchema } from '../auth/schemes/key-places.js';
import { trustedProxies } from '../net/trusted-proxy.js';
import { closed, flag, nonEmpty, type OptionSchemas } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { TlsOptions } from './options/tls-options.js';
import { listOf, type ReadVariable } from './variables.js';

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

/** The values of `A2A_AUTH_REQUIRE`. */
const REQUIRED = ['any', 'all', 'all-users'] as const;
/** The credentials that a caller needs, if there are several kinds. */
export type RequiredCredentials = (typeof REQUIRED)[number];
/** The values of `A2A_CLIENT_CERT_FORMAT`. */
const FORMATS = ['envoy', 'nginx', 'rfc9440'] as const;

const schemas: OptionSchemas<CredentialConfig> = {
  // `ApiKeys` checks each entry.
  apiKeys: Type.Optional(Type.Array(Type.Object({}))),
  apiKeysFile: Type.Optional(nonEmpty),
  apiKeyPlace: Type.Optional(keyPlaceSchema),
  basicUsersFile: Type.Optional(nonEmpty),
  clientCertificates: Type.Optional(flag),
  forwardedCertificates: Type.Optional(forwardedSchema),
  require: Type.Optional(Type.String({ enum: [...REQUIRED] })),
};

/** The schema of CredentialConfig. */
export const credentialSchema = closed(schemas);

/** The variables that `readCredentialConfig` reads. */
export const CREDENTIAL_NAMES = [
  'A2A_API_KEYS',
  'A2A_API_KEYS_FILE',
  'A2A_API_KEY_PLACE',
  'A2A_BASIC_USERS_FILE',
  'A2A_CLIENT_CERT_PROXIES',
  'A2A_CLIENT_CERT_FORMAT',
  'A2A_AUTH_REQUIRE',
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
  const apiKeyPlace = read(
    'A2A_API_KEY_PLACE',
    keyPlaceOf,
    'a place such as header:X-Agent-Key, query:key, cookie:sid or bearer',
  );
  const proxies = read(
    'A2A_CLIENT_CERT_PROXIES',
    (text) => listOf(text, trustedProxies),
    'addresses, ranges such as 10.0.0.0/8, or loopback, separated by commas',
  );
  const format = read('A2A_CLIENT_CERT_FORMAT', oneOf(FORMATS), `one of ${FORMATS.join(', ')}`);
  const require = read('A2A_AUTH_REQUIRE', oneOf(REQUIRED), `one of ${REQUIRED.join(', ')}`);
  const cert = read('A2A_TLS_CERT', path, 'a path');
  const key = read('A2A_TLS_KEY', path, 'a path');
  const ca = read('A2A_TLS_CLIENT_CA', path, 'a path');
  if ((cert === undefined) !== (key === undefined)) problems.push('A2A_TLS_CERT and A2A_TLS_KEY belong together');
  if (ca !== undefined && cert === undefined) problems.push('A2A_TLS_CLIENT_CA needs A2A_TLS_CERT and A2A_TLS_KEY');
  if ((proxies === undefined) !== (format === undefined))
    problems.push('A2A_CLIENT_CERT_PROXIES and A2A_CLIENT_CERT_FORMAT belong together');
  if (apiKeyPlace !== undefined && (apiKeys ?? apiKeysFile) === undefined)
    problems.push('A2A_API_KEY_PLACE needs A2A_API_KEYS or A2A_API_KEYS_FILE');
  const credentials = {
    ...(apiKeys && { apiKeys }),
    ...(apiKeysFile !== undefined && { apiKeysFile }),
    ...(apiKeyPlace !== undefined && { apiKeyPlace }),
    ...(basicUsersFile !== undefined && { basicUsersFile }),
    ...(ca !== undefined && { clientCertificates: true }),
    ...(proxies !== undefined && format !== undefined && { forwardedCertificates: { proxies, format } }),
    ...(require !== undefined && { require }),
  };
  return {
    ...(Object.keys(credentials).length > 0 && { credentials }),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...(ca !== undefined && { ca }) } }),
  };
}

function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word | undefined {
  return (text) => words.find((word) => word === text);
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
