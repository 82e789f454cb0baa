/** Authenticators for servers, and their contract. */

import type { ApiKey } from '../auth/schemes/api-key.js';
import type { ApiKeySource, ApiKeysOptions } from '../auth/schemes/api-keys.js';
import { ApiKeys as ApiKeysScheme } from '../auth/schemes/api-keys.js';
import {
  type BearerToken,
  type BearerTokensOptions,
  BearerTokens as BearerTokensScheme,
} from '../auth/schemes/bearer-tokens.js';
import { systemClock } from './runtime.js';

export { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from '../auth/authenticator.js';
export type { ClientCertificate } from '../auth/client-certificate.js';
export { allOf, anyOf } from '../auth/combinations.js';
export type { ApiKeyPlace } from '../auth/credentials/api-key.js';
export { mayUseSkill, optional, requireScopes } from '../auth/requirements.js';
export type { ApiKey, CredentialOwner } from '../auth/schemes/api-key.js';
export type { ApiKeySource, ApiKeysOptions } from '../auth/schemes/api-keys.js';
export type { BearerToken, BearerTokensOptions } from '../auth/schemes/bearer-tokens.js';
export type { KeyPlace } from '../auth/schemes/key-places.js';
export { type User, userId } from '../auth/user.js';

/**
 * Fixed keys in a header, a query parameter, a cookie, or as an HTTP Bearer scheme. The id of a user is
 * `apikey|<subject>`. A wrong or expired key is refused. `replace` changes the keys while the server runs.
 */
export class ApiKeys extends ApiKeysScheme {
  /** @throws OptionsError naming the subjects with an invalid key or hash. */
  constructor(keys: readonly ApiKey[] | ApiKeySource, options: ApiKeysOptions = {}) {
    super({ ...options, keys, clock: systemClock });
  }
}

/**
 * Fixed tokens as an HTTP Bearer scheme (RFC 6750). The id of a user is `bearer|<subject>`. A wrong or expired token is
 * refused. `replace` changes the tokens while the server runs.
 */
export class BearerTokens extends BearerTokensScheme {
  /** @throws OptionsError naming the subjects with an invalid token or hash. */
  constructor(tokens: readonly BearerToken[], options: BearerTokensOptions = {}) {
    super({ ...options, tokens, clock: systemClock });
  }
}
export * from './token-schemes.js';
