import type { JsonObject } from '../model/json.js';
import { refuseArgument } from '../options/refuse-argument.js';

/** The user of a call, as an authenticator found it. */
export interface User {
  /** Owns tasks: two users are the same if and only if their ids are equal. `userId` makes ids that cannot collide. */
  readonly id: string;
  /** A name for people and logs. */
  readonly name?: string;
  /** OAuth scopes that the credential grants (RFC 6749 §3.3). */
  readonly scopes?: readonly string[];
  /** Names of the security schemes of the card that the credentials satisfy. Absent: not known. */
  readonly schemes?: readonly string[];
  /** Further rights of the user, for rules of the application. */
  readonly permissions?: readonly string[];
  /** End of the credential, in ms since the epoch. Streams of the user end then. Absent: it does not expire. */
  readonly expiresAt?: number;
  /** The tenants that the user may name. Absent: a rule of the operator decides. */
  readonly tenants?: readonly string[];
  /**
   * True if the rule of the operator must grant a tenant of the list as well. `allOf` says so if one of its credentials
   * has a list and another one has none.
   */
  readonly needsTenantRule?: true;
  /** Facts for the agent, such as claims of a token; never credentials. */
  readonly metadata?: JsonObject;
}

/**
 * The id of a user: the issuer or the scheme, `|`, the subject, such as `apikey|ada`. Both parts are escaped, so that
 * no two different pairs have the same id.
 */
export function userId(issuer: string, subject: string): string {
  if (typeof issuer !== 'string' || typeof subject !== 'string')
    refuseArgument('userId', 'an issuer and a subject, both texts', typeof issuer === 'string' ? subject : issuer);
  return `${escapePart(issuer)}|${escapePart(subject)}`;
}

/**
 * The id of a client of an authorization server. Its issuer ends with `#client`, which no issuer of users does: an
 * issuer has no fragment (RFC 8414 §2).
 */
export function clientId(issuer: string, subject: string): string {
  return userId(`${issuer}${CLIENT}`, subject);
}

const CLIENT = '#client';

/**
 * True if ids may be those of one caller: the same subject under the names of several schemes, such as `apikey|ada` and
 * `mtls|ada`. A client is no user of the same name. A subject of one authorization server says nothing about another
 * one (RFC 7519 §4.1.2). An id of another form is its own subject.
 */
export function areOneCaller(ids: readonly string[]): boolean {
  const parts = ids.map((id) => {
    const [issuer = '', subject, ...others] = id.split('|');
    return subject === undefined || others.length > 0 ? { issuer: '', subject: id } : { issuer, subject };
  });
  const issuers = new Set(parts.flatMap(({ issuer }) => (issuer.includes('://') ? issuer : [])));
  const clients = parts.filter(({ issuer }) => issuer.endsWith(CLIENT));
  const isOneKind = clients.length === 0 || clients.length === parts.length;
  return new Set(parts.map(({ subject }) => subject)).size === 1 && issuers.size <= 1 && isOneKind;
}

/** Most issuers and subjects. The expression with classes of Unicode takes several times as long. */
const PLAIN = /^[\w.:/@-]*$/;

function escapePart(part: string): string {
  if (PLAIN.test(part)) return part;
  return part.replace(/[%|\p{Cc}\p{Cs}]/gu, (char) => `%${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The key of an anonymous caller's addresses in limits. A user's key is its id, which begins with an issuer or a
 * scheme.
 */
export function addressKeyOf(group: string): string {
  return `|address|${group}`;
}
