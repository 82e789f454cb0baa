import { NOT_ACCEPTED, PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import type { SecurityRequirement, SecurityScheme } from '../model/security-scheme.js';
import type { ClientCertificate } from './client-certificate.js';
import type { User } from './user.js';

/**
 * The part of a request that can prove who sends it. If a header that the authenticator reads came twice, the gate
 * refuses the request: proxies and servers differ in which line counts.
 */
export interface Credentials {
  /** Upper case. */
  readonly method?: string;
  /** A header by lower-case name; several lines are joined by `, `. */
  header(name: string): string | undefined;
  /**
   * A header that a trusted proxy adds. In a Cap'n Web session, clients choose the headers of `header`; this reads the
   * request that opened the connection. Absent: the same as `header`.
   */
  proxyHeader?(name: string): string | undefined;
  /** The query as sent, without `?`. */
  readonly query: string;
  /** The address of the peer, if the host knows it. */
  readonly peer?: string | undefined;
  /** The addresses that count as one client: the address before trusted proxies, of IPv6 its /64. */
  readonly clientGroup?: string | undefined;
  /**
   * Identifies the connection, if the host knows it. A scheme may cache results for it, until the connection ends. The
   * requests of one connection may come from several callers.
   */
  readonly connection?: object | undefined;
  /** The certificate of the TLS connection. `undefined` if the client sent none, or the host cannot tell. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** The answer of an authenticator. */
export type Authentication =
  /** The request has no credential of the scheme. */
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user';
      readonly user: User;
      /** Aborted when the credential is revoked. Streams and waiting calls of the user end then. Absent: never. */
      readonly revoked?: AbortSignal;
      /**
       * Time after which this answer may be outdated, in ms since the epoch. Streams and waiting calls are then
       * authenticated again, and end if the credential no longer proves the same user. Absent: never outdated.
       */
      readonly askAgainAt?: number;
      /**
       * True if the authenticator allows the page that made a browser send the credential, or if browsers never send it
       * by themselves. Absent: the gate refuses a cookie, HTTP Basic or a certificate from the page of another site.
       */
      readonly pageAllowed?: true;
    }
  /** The request has a credential, and it is wrong, malformed or expired. */
  | {
      readonly kind: 'refused';
      /** For the log, such as `expired`; never the credential. */
      readonly reason: string;
      /** The challenges of the answer. Absent: those of the authenticator. */
      readonly challenges?: readonly string[];
      /** The scopes that the user lacks. With them the answer is 403, otherwise 401. */
      readonly missingScopes?: readonly string[];
    };

/** The tokens that a protected resource takes, for its metadata (RFC 9728 §2). */
export interface ProtectedResource {
  /** The issuers of the tokens. */
  readonly authorizationServers: readonly string[];
  /** The scopes that calls need. */
  readonly scopes: readonly string[];
}

/** Finds the user of a call. */
export interface Authenticator {
  /** HTTP challenges for a caller without valid credentials, such as `Bearer` (RFC 9110 §11.6.1). */
  readonly challenges: readonly string[];
  /** The schemes for the card, by name (Spec §4.5.1). */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** The requirements for the card: one of them is enough. Absent: any one of the schemes. */
  readonly securityRequirements?: readonly SecurityRequirement[];
  /** The tokens that it takes. Present: the server publishes them (RFC 9728), and challenges name the place. */
  readonly protectedResource?: ProtectedResource;
  /** True if callers without a credential are anonymous. Default: they are refused. A wrong credential always is. */
  readonly optional?: boolean;
  /** True if it needs `clientCertificate`. A host that cannot provide certificates refuses it at start. */
  readonly needsClientCertificate?: boolean;
  /** Resolves for every request that a caller can send. Rejects if the authenticator cannot decide now. */
  authenticate(credentials: Credentials): Authentication | Promise<Authentication>;
}

/** Reads a header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Reads headers of the request that opened the connection, which a session of Cap'n Web cannot choose. */
export function openingHeaders(credentials: Credentials): HeaderReader {
  return (name) => (credentials.proxyHeader === undefined ? credentials.header(name) : credentials.proxyHeader(name));
}

/** The answer for a request without credentials. */
export const ANONYMOUS: Authentication = Object.freeze({ kind: 'anonymous' });

/** An answer that names a user. */
export type KnownUser = Extract<Authentication, { readonly kind: 'user' }>;

/**
 * The user whom an answer admits; `undefined` for an anonymous caller, if the authenticator is optional.
 * @throws UnauthenticatedError for a missing or wrong credential, and for one whose id storages cannot keep.
 * @throws PermissionDeniedError if the credential lacks a scope.
 * @throws TypeError naming a wrong member of the answer.
 */
export function admittedUser(authenticator: Authenticator, found: Authentication): User | undefined {
  if (found.kind === 'user') {
    checkAnswer(found);
    if (!isStorable(found.user)) throw new UnauthenticatedError(authenticator.challenges, NOT_ACCEPTED);
    return found.user;
  }
  if (found.kind === 'anonymous') {
    if (authenticator.optional === true) return undefined;
    throw new UnauthenticatedError(authenticator.challenges);
  }
  const { challenges, missingScopes = [] } = found;
  if (missingScopes.length === 0) throw new UnauthenticatedError(challenges ?? authenticator.challenges, NOT_ACCEPTED);
  const scope = missingScopes.join(' ');
  const message = `The credential lacks the scope ${scope}`;
  throw new PermissionDeniedError(message, challenges ?? [`Bearer error="insufficient_scope", scope="${scope}"`]);
}

/** Storages keep text as UTF-8, which has no lone surrogates: two ids that differ only there would become one. */
export function isStorable({ id }: User): boolean {
  return id.isWellFormed();
}

/** @throws TypeError naming the first wrong member of an answer. */
export function checkAnswer(answer: KnownUser): void {
  const fault = answerFault(answer);
  if (fault !== undefined) throw new TypeError(`An authenticator gave a wrong ${fault}`);
}

const LISTS = ['scopes', 'schemes', 'permissions', 'tenants'] as const;
const A_TIME = 'must be a number of ms since the epoch';

/**
 * The first wrong member of an answer, with its required form; `undefined` if there is none. Untyped code may return
 * anything, and an end in another form would never take effect.
 */
export function answerFault({ user, askAgainAt }: Pick<KnownUser, 'user' | 'askAgainAt'>): string | undefined {
  const { id, expiresAt } = user;
  if (typeof id !== 'string' || id === '') return 'id: must be a text. Make ids with userId()';
  if (!isTime(expiresAt)) return `expiresAt: ${A_TIME}`;
  for (const name of LISTS) {
    // A string has `includes` too, which would match each of its substrings.
    if (user[name] !== undefined && !Array.isArray(user[name])) return `${name}: must be a list of texts`;
  }
  return isTime(askAgainAt) ? undefined : `askAgainAt: ${A_TIME}`;
}

/** True for a time in ms since the epoch, or undefined. A time in another form would never take effect. */
export function isTime(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && !Number.isNaN(value));
}
