import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import { clientId, type User, userId } from '../user.js';

/** Facts of a token: the claims of a JWT (RFC 7519 §4), or the answer of an introspection (RFC 7662 §2.2). */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** The result of a check: the claims of a valid token, or the fault of another one, for the log. */
export type TokenVerdict = { readonly claims: TokenClaims } | { readonly fault: string };

/**
 * The claims that describe a user. A name with dots, such as `realm_access.roles`, also finds a member of a member. An
 * exact name goes first.
 */
export interface ClaimMapping {
  /** Identifies the user at the issuer. Default `sub`, or `client_id` for a client without `sub`. */
  readonly subject?: string;
  /** A name for people and logs. Default: the first of `name`, `preferred_username` and `client_id`. */
  readonly name?: string;
  /** A list, or a text with blanks. Default: `scope`, otherwise `scp`. */
  readonly scopes?: string;
  /** A list, or a text with blanks. Default: none. */
  readonly permissions?: string;
  /** A list or a text. A token without the claim grants no tenant. Absent: a rule of the operator decides. */
  readonly tenants?: string;
  /** Claims that agents see as `user.metadata`. Default: none. */
  readonly metadata?: readonly string[];
}

/** Options of `userOfClaims`. */
interface UserOfClaimsOptions {
  readonly issuer: string;
  /** The names of the schemes in the card. */
  readonly schemes: readonly string[];
  readonly mapping: ClaimMapping;
  /** Time after `exp` in which the token is still accepted, in seconds. */
  readonly toleranceSeconds: number;
}

/** The largest time of a date, in ms since the epoch. */
const LAST_TIME = 8.64e15;
const LONGEST_SUBJECT = 1_024;
const NAMES = ['name', 'preferred_username', 'client_id'];

/**
 * The user of a verified token; `undefined` if the token names no subject. A client without a subject, as introspection
 * may describe it, is named by its `client_id`. The id of a client begins with `<issuer>#client`, so that no user has
 * it. A token is of a client if its subject is its `client_id` or its `azp`.
 */
export function userOfClaims(claims: TokenClaims, options: UserOfClaimsOptions): User | undefined {
  const { issuer, schemes, mapping, toleranceSeconds } = options;
  const id = idOf(claims, { issuer, claim: mapping.subject });
  if (id === undefined) return undefined;
  const { exp } = claims;
  const user: { -readonly [Member in keyof User]: User[Member] } = {
    id,
    scopes: scopesOf(claims, mapping.scopes),
    schemes,
  };
  const name = nameOf(claims, mapping.name === undefined ? NAMES : [mapping.name]);
  if (name !== undefined) user.name = name;
  if (mapping.permissions !== undefined) user.permissions = words(claimOf(claims, mapping.permissions));
  if (typeof exp === 'number') user.expiresAt = Math.min((exp + toleranceSeconds) * 1000, LAST_TIME);
  if (mapping.tenants !== undefined) user.tenants = texts(claimOf(claims, mapping.tenants));
  if (mapping.metadata !== undefined) user.metadata = pick(claims, mapping.metadata);
  return user;
}

function nameOf(claims: TokenClaims, names: readonly string[]): string | undefined {
  for (const claim of names) {
    const value = claimOf(claims, claim);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function idOf(
  claims: TokenClaims,
  { issuer, claim }: { readonly issuer: string; readonly claim: string | undefined },
): string | undefined {
  const { sub, client_id: client, azp: party } = claims;
  const subject = claim === undefined ? (sub ?? client) : claimOf(claims, claim);
  if (typeof subject !== 'string' || subject === '' || subject.length > LONGEST_SUBJECT) return undefined;
  // A token that a client got for itself has the client as its subject (RFC 9068 §2.2, §5).
  return subject === client || subject === party ? clientId(issuer, subject) : userId(issuer, subject);
}

/** The scopes of `wanted` that a user lacks. */
export function missingScopes(user: User, wanted: readonly string[]): readonly string[] {
  return wanted.filter((scope) => user.scopes?.includes(scope) !== true);
}

function scopesOf(claims: TokenClaims, claim: string | undefined): readonly string[] {
  return words(claim === undefined ? (claims.scope ?? claims.scp) : claimOf(claims, claim));
}

function claimOf(claims: TokenClaims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const member of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, member)) return undefined;
    value = value[member];
  }
  return value;
}

function words(value: unknown): readonly string[] {
  if (typeof value !== 'string') return texts(value);
  const split = value.split(' ');
  // A filtered list of two words takes 150 bytes more.
  return split.includes('') ? split.filter((word) => word !== '') : split;
}

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one !== '') : [];
}

function pick(claims: TokenClaims, names: readonly string[]): JsonObject {
  const present = names.flatMap((name) => {
    const value = claimOf(claims, name);
    return value === undefined ? [] : [[name, value as JsonValue] as const];
  });
  return Object.fromEntries(present);
}
