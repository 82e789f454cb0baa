/** Authenticators for servers, and their contract. */

import type { ApiKey } from '../auth/schemes/api-key.js';
import type { ApiKeySource, ApiKeysOptions } from '../auth/schemes/api-keys.js';
import { ApiKeys as ApiKeysScheme, apiKeysSchema } from '../auth/schemes/api-keys.js';
import {
  type BasicUser,
  type BasicUserSource,
  type BasicUsersOptions,
  BasicUsers as BasicUsersScheme,
  basicUsersSchema,
  newPasswordHash,
} from '../auth/schemes/basic-users.js';
import {
  type BearerToken,
  type BearerTokensOptions,
  BearerTokens as BearerTokensScheme,
  bearerTokensSchema,
} from '../auth/schemes/bearer-tokens.js';
import {
  type CertificateRule,
  type CertificateUser,
  type ClientCertificatesOptions,
  ClientCertificates as ClientCertificatesScheme,
  clientCertificatesSchema,
} from '../auth/schemes/client-certificates.js';
import { checkOptions } from '../options/check-options.js';
import { optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { systemClock } from './runtime.js';

export { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from '../auth/authenticator.js';
export type { ClientCertificate } from '../auth/client-certificate.js';
export type { AllOfOptions } from '../auth/combinations.js';
export { allOf, anyOf } from '../auth/combinations.js';
export type { ApiKeyPlace } from '../auth/credentials/api-key-place.js';
export { mayUseSkill, optional, requireScopes } from '../auth/requirements.js';
export type { ApiKey, CredentialOwner } from '../auth/schemes/api-key.js';
export type { ApiKeySource, ApiKeysOptions } from '../auth/schemes/api-keys.js';
export type { BasicUser, BasicUserSource, BasicUsersOptions } from '../auth/schemes/basic-users.js';
export type { BearerToken, BearerTokensOptions } from '../auth/schemes/bearer-tokens.js';
export type {
  CertificateMatch,
  CertificateRule,
  CertificateUser,
  ClientCertificatesOptions,
} from '../auth/schemes/client-certificates.js';
export type { ForwardedCertificates } from '../auth/schemes/forwarded-certificate.js';
export type { KeyPlace } from '../auth/schemes/key-places.js';
export { type User, userId } from '../auth/user.js';
export * from './token-schemes.js';

/**
 * Fixed keys in a header, a query parameter, a cookie, or as an HTTP Bearer scheme. The id of a user is
 * `apikey|<subject>`. A wrong or expired key is refused. `replace` changes the keys while the server runs.
 */
export class ApiKeys extends ApiKeysScheme {
  /** @throws OptionsError naming the subjects with an invalid key or hash. */
  constructor(keys: readonly ApiKey[] | ApiKeySource, options: ApiKeysOptions = {}) {
    super({ ...checkOptions({ subject: 'ApiKeys', schema: apiKeysSchema, options }), keys, clock: systemClock });
  }
}

/**
 * Fixed tokens as an HTTP Bearer scheme (RFC 6750). The id of a user is `bearer|<subject>`. A wrong or expired token is
 * refused. `replace` changes the tokens while the server runs.
 */
export class BearerTokens extends BearerTokensScheme {
  /** @throws OptionsError naming the subjects with an invalid token or hash. */
  constructor(tokens: readonly BearerToken[], options: BearerTokensOptions = {}) {
    super({
      ...checkOptions({ subject: 'BearerTokens', schema: bearerTokensSchema, options }),
      tokens,
      clock: systemClock,
    });
  }
}

const hashSchema = optionObject({ iterations: Type.Optional(Type.Integer({ minimum: 1 })) });
const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

/**
 * Names and passwords as HTTP Basic (RFC 7617). The id of a user is `basic|<subject>`. A wrong password is refused, as
 * slowly as an unknown name. `replace` changes the users while the server runs.
 */
export class BasicUsers extends BasicUsersScheme {
  constructor(users: readonly BasicUser[] | BasicUserSource, options: BasicUsersOptions = {}) {
    super({
      ...checkOptions({ subject: 'BasicUsers', schema: basicUsersSchema, options }),
      users,
      clock: systemClock,
      random,
    });
  }
}

/**
 * The hash of a password for `passwordHash` of a user: PBKDF2 with HMAC-SHA-256. Default: 600,000 iterations.
 * Cloudflare Workers allow 100,000. Rejects with OptionsError for an empty password.
 */
export async function hashPassword(password: string, options: { readonly iterations?: number } = {}): Promise<string> {
  if (typeof password !== 'string') refuseArgument('hashPassword', 'a password as text', password);
  const { iterations } = checkOptions({ subject: 'hashPassword', schema: hashSchema, options });
  return newPasswordHash(password, { salt: random(16), ...(iterations !== undefined && { iterations }) });
}

/**
 * Certificates of clients in mutual TLS, from the connection or from a trusted proxy. The id of a user is
 * `mtls|<subject>`. A certificate that is expired, of another authority or unknown is refused.
 */
export class ClientCertificates extends ClientCertificatesScheme {
  /** @throws OptionsError for rules without a condition, and for wrong proxies. */
  constructor(users: readonly CertificateUser[] | CertificateRule, options: ClientCertificatesOptions = {}) {
    super({
      ...checkOptions({ subject: 'ClientCertificates', schema: clientCertificatesSchema, options }),
      users,
      clock: systemClock,
    });
  }
}
