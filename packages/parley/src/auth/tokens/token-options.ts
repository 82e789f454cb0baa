import { OptionsError } from '../../errors/options-error.js';
import type { DocumentFetch } from '../../net/bounded-fetch.js';
import {
  flag,
  func,
  nonEmpty,
  type OptionSchemas,
  optionObject,
  texts,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { type ForwardedCertificates, forwardedSchema } from '../schemes/forwarded-certificate.js';
import type { ClaimMapping, TokenClaims } from './token-claims.js';
import { urlFault } from './token-documents.js';
import type { VerifiedTokensLimits } from './verified-tokens.js';

/** Options of all authenticators for tokens of an authorization server. */
export interface TokenOptions {
  /** The authorization server, exactly as its tokens and its metadata name it. Part of the id of each user. */
  readonly issuer: string;
  /** Scopes that every call needs. A token without them gets 403. */
  readonly requiredScopes?: readonly string[];
  /** The claims that describe a user. */
  readonly claims?: ClaimMapping;
  /** True if callers without a token are anonymous. Default: they are refused. */
  readonly optional?: boolean;
  /** The name of the scheme in the card. Default: `jwt`, `oauth2` or `openIdConnect`. */
  readonly schemeName?: string;
  /** Longest token in bytes. A longer one is refused unread. Default 8,192. */
  readonly maxTokenBytes?: number;
  /**
   * The header in which a trusted proxy tells the certificate of the client, for tokens that are bound to a certificate
   * (RFC 8705). Default: the certificate of the connection.
   */
  readonly forwarded?: ForwardedCertificates;
  /** Limits of the cache of verified tokens. */
  readonly cache?: VerifiedTokensLimits;
  /** Called for each verified token, at least once a minute. True refuses the token. A rejection leads to 503. */
  readonly isRevoked?: (claims: TokenClaims) => boolean | Promise<boolean>;
  /** Private hosts and addresses that may be called, such as `keycloak.internal:8080` or `10.0.0.0/8`. */
  readonly allow?: readonly string[];
  /** True allows urls without TLS, for a private network. Urls of the same machine need no TLS. */
  readonly plainHttp?: boolean;
  /** Sends the requests to the authorization server. Default: the `fetch` of the host, with a check of addresses. */
  readonly fetch?: DocumentFetch;
  /** Gets a line if the authorization server cannot be asked. Default: no log. */
  readonly logger?: Logger;
}

/** Rules for JSON Web Tokens (RFC 8725). */
export interface JwtRules {
  /** The `aud` of the tokens. One of several is enough. */
  readonly audience: string | readonly string[];
  /** Allowed algorithms of signatures. Default: all asymmetric ones. */
  readonly algorithms?: readonly string[];
  /** Largest difference between the clocks of issuer and server. Default 5, at most 600. */
  readonly clockToleranceSeconds?: number;
  /** Further claims that a token must have, beside `iss`, `aud`, `exp` and the subject. */
  readonly requiredClaims?: readonly string[];
  /** Allowed values of the header `typ`, in lower case, without `application/`. An empty text allows its absence. */
  readonly types?: readonly string[];
  /** Times of keys that are read by URL. */
  readonly keyTimes?: KeyTimes;
}

/** Times of a key set that is read by URL. */
export interface KeyTimes {
  /** Time after which the keys are read again, in ms. Default 10 minutes. A removed key counts no longer. */
  readonly maxAgeMs?: number;
  /** Shortest time between two reads because of unknown keys, in ms. Default 30 s. */
  readonly cooldownMs?: number;
  /** Time for which the last keys count if they cannot be read again, in ms. Default one hour. */
  readonly staleMs?: number;
}

/** A member whose value has a check of its own, with a message of its own. */
const checked = Type.Optional(Type.Unknown());
const claims: OptionSchemas<ClaimMapping> = {
  subject: Type.Optional(nonEmpty),
  name: Type.Optional(nonEmpty),
  scopes: Type.Optional(nonEmpty),
  permissions: Type.Optional(nonEmpty),
  tenants: Type.Optional(nonEmpty),
  metadata: Type.Optional(texts),
};
const cache: OptionSchemas<VerifiedTokensLimits> = { maxTokens: checked, maxAgeMs: checked };
const keyTimes: OptionSchemas<KeyTimes> = { maxAgeMs: checked, cooldownMs: checked, staleMs: checked };

/** The schema of KeyTimes. */
export const keyTimesSchema = optionObject(keyTimes);

/** The schema of a key set. */
export const keySetSchema = optionObject({ keys: Type.Array(Type.Object({})) });

/** The schemas of TokenOptions. */
export const tokenSchemas: OptionSchemas<TokenOptions> = {
  issuer: checked,
  requiredScopes: Type.Optional(texts),
  claims: Type.Optional(optionObject(claims)),
  optional: Type.Optional(flag),
  schemeName: Type.Optional(nonEmpty),
  maxTokenBytes: checked,
  forwarded: Type.Optional(forwardedSchema),
  cache: Type.Optional(optionObject(cache)),
  isRevoked: Type.Optional(func),
  allow: Type.Optional(texts),
  plainHttp: Type.Optional(flag),
  fetch: Type.Optional(func),
  logger: Type.Optional(withMethod('warn')),
};

/** The schemas of JwtRules. */
export const jwtSchemas: OptionSchemas<JwtRules> = {
  audience: checked,
  algorithms: Type.Optional(texts),
  clockToleranceSeconds: checked,
  requiredClaims: Type.Optional(texts),
  types: Type.Optional(texts),
  keyTimes: Type.Optional(keyTimesSchema),
};

/** Ports of the authenticators for tokens. */
export interface TokenRuntime {
  readonly clock: Clock;
  /** Makes the `fetch` that may call public addresses and those of `allow`. */
  readonly fetchAllowing: (allow: readonly string[]) => DocumentFetch;
}

/** The algorithms of public keys. With any other one, each verifier could sign. */
export const ASYMMETRIC_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** The algorithms of shared secrets. */
export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;

/** Visible characters of a scope (RFC 6749 §3.3). */
const SCOPE = /^[!#-[\]-~]+$/;

/** Problems of the options, one sentence each. */
export function tokenProblems(options: TokenOptions): string[] {
  const { issuer, requiredScopes = [], maxTokenBytes = 1, cache = {}, plainHttp = false } = options;
  const problems: string[] = [];
  const fault = typeof issuer === 'string' ? urlFault(issuer, plainHttp) : 'must be an https url';
  if (fault !== undefined) problems.push(`issuer ${fault}`);
  else if (/[?#]/.test(issuer)) problems.push('issuer must have no query and no fragment');
  const wrong = requiredScopes.filter((scope) => !SCOPE.test(scope));
  if (wrong.length > 0) problems.push(`requiredScopes must be words without blanks and quotes: ${wrong.join(', ')}`);
  if (!isCount(maxTokenBytes) || maxTokenBytes === 0) problems.push('maxTokenBytes must be a positive number');
  if (!isCount(cache.maxTokens ?? 0)) problems.push('cache.maxTokens must be a number of at least 0');
  if (!isCount(cache.maxAgeMs ?? 0)) problems.push('cache.maxAgeMs must be a number of at least 0');
  return problems;
}

/** Problems of rules for tokens, one sentence each. `known` are the algorithms that fit the keys. */
export function jwtProblems(rules: JwtRules, known: readonly string[]): string[] {
  const { audience, algorithms = known, clockToleranceSeconds = 0, keyTimes = {} } = rules;
  const problems: string[] = [];
  const audiences = typeof audience === 'string' ? [audience] : (audience ?? []);
  if (audiences.length === 0 || audiences.some((one) => typeof one !== 'string' || one === ''))
    problems.push('audience must name this agent as the issuer does');
  const strange = algorithms.filter((name) => !known.includes(name));
  if (algorithms.length === 0 || strange.length > 0)
    problems.push(
      `algorithms must be some of ${known.join(', ')}${strange.length > 0 ? `: ${strange.join(', ')}` : ''}`,
    );
  if (!(clockToleranceSeconds >= 0 && clockToleranceSeconds <= 600))
    problems.push('clockToleranceSeconds must be from 0 to 600');
  for (const [name, value] of Object.entries(keyTimes))
    if (!isCount(value)) problems.push(`keyTimes.${name} must be a number of at least 0`);
  return problems;
}

/** @throws OptionsError if there are problems. */
export function refuseProblems(subject: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new OptionsError(subject, problems);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
