import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { nonEmpty, type OptionSchemas, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { Authentication, Authenticator, Credentials } from '../authenticator.js';
import { type ApiKey, type CredentialOwner, ownerProblems } from './api-key.js';
import { ApiKeys } from './api-keys.js';
import { credentialList } from './reloaded-list.js';

/** A token and its owner. `sha256` is the hash of the token as 64 hex digits, for configurations without secrets. */
export type BearerToken = ({ readonly token: string } | { readonly sha256: string }) & CredentialOwner;

/** Options of `BearerTokens`. */
export interface BearerTokensOptions {
  /** The name of the scheme in the card. Default `bearer`. */
  readonly schemeName?: string;
}

const schemas: OptionSchemas<BearerTokensOptions> = { schemeName: Type.Optional(nonEmpty) };

/** The schema of BearerTokensOptions. */
export const bearerTokensSchema = optionObject(schemas);

/** All that makes a `BearerTokens`. */
interface BearerTokensSetup extends BearerTokensOptions {
  readonly tokens: readonly BearerToken[];
  readonly clock: Clock;
}

/**
 * Fixed tokens as an HTTP Bearer scheme (RFC 6750). The id of a user is `bearer|<subject>`. Keeps hashes only, and
 * compares them in constant time. A wrong token is refused.
 */
export class BearerTokens implements Authenticator {
  readonly challenges: readonly string[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly #keys: ApiKeys;

  /** @throws OptionsError naming the subjects with an invalid token or hash. */
  constructor({ tokens, ...setup }: BearerTokensSetup) {
    const fixed = { keys: keysOf(tokens), place: 'bearer', issuer: 'bearer', title: TITLE } as const;
    this.#keys = new ApiKeys({ ...setup, ...fixed });
    this.challenges = this.#keys.challenges;
    this.securitySchemes = this.#keys.securitySchemes;
  }

  /** Replaces all tokens. Running streams of removed and changed tokens end. Rejects for invalid tokens. */
  async replace(tokens: readonly BearerToken[]): Promise<void> {
    await this.#keys.replace(keysOf(tokens));
  }

  authenticate(credentials: Credentials): Authentication | Promise<Authentication> {
    return this.#keys.authenticate(credentials);
  }
}

const TITLE = 'BearerTokens';

function keysOf(tokens: readonly BearerToken[]): readonly ApiKey[] {
  const entries = credentialList(TITLE, tokens);
  const problems = entries.flatMap((entry) => ownerProblems(entry, ['token', 'sha256']));
  if (problems.length > 0) throw new OptionsError(TITLE, problems);
  return entries.map(asKey);
}

function asKey(entry: BearerToken): ApiKey {
  if (!('token' in entry)) return entry;
  const { token, ...owner } = entry;
  return { key: token, ...owner };
}
