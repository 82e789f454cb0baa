import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { nonEmpty, type OptionSchemas, optionObject, texts } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import {
  ANONYMOUS,
  type Authentication,
  type Authenticator,
  type Credentials,
  type KnownUser,
  openingHeaders,
} from '../authenticator.js';
import type { ClientCertificate } from '../client-certificate.js';
import { isAttachedCrossSite } from '../cross-site.js';
import { type CredentialOwner, ownerProblems, timeOf } from './api-key.js';
import { ownerAsUser } from './credential-users.js';
import {
  type ForwardedCertificate,
  type ForwardedCertificates,
  forwardedCertificate,
  forwardedSchema,
} from './forwarded-certificate.js';
import { credentialList } from './reloaded-list.js';

/** The members of a certificate that a rule asks for. All given ones must match. */
export interface CertificateMatch {
  /** The SHA-256 of the certificate, as 64 hex digits, with or without colons. */
  readonly fingerprint?: string;
  /** The common name, if the subject has exactly one. */
  readonly commonName?: string;
  /** One of the alternative names. */
  readonly dnsName?: string;
  readonly uri?: string;
  readonly email?: string;
}

/** A rule from a certificate to its user. */
export type CertificateUser = CertificateMatch & CredentialOwner;

/**
 * Finds the user of a verified certificate; `undefined` for an unknown one. A user with unknown members does not pass.
 * Called for each connection, and again a minute later if the connection has a call or a stream then.
 */
export type CertificateRule = (certificate: ClientCertificate) => CredentialOwner | undefined;

/** Options of `ClientCertificates`. */
export interface ClientCertificatesOptions {
  /** The name of the scheme in the card. Default `mtls`. */
  readonly schemeName?: string;
  /**
   * Origins of other sites, such as `https://app.example`, whose pages may change something. A browser presents a
   * chosen certificate with requests of every page.
   */
  readonly trustedOrigins?: readonly string[];
  /** The proxies that end TLS, and their header. Default: the certificate of the connection. */
  readonly forwarded?: ForwardedCertificates;
}

const schemas: OptionSchemas<ClientCertificatesOptions> = {
  schemeName: Type.Optional(nonEmpty),
  trustedOrigins: Type.Optional(texts),
  forwarded: Type.Optional(forwardedSchema),
};

/** The schema of ClientCertificatesOptions. */
export const clientCertificatesSchema = optionObject(schemas);

/** All that makes a `ClientCertificates`. */
interface ClientCertificatesSetup extends ClientCertificatesOptions {
  readonly users: readonly CertificateUser[] | CertificateRule;
  readonly clock: Clock;
}

interface Entry {
  readonly user: CertificateUser;
  readonly revocation: AbortController;
  readonly text: string;
}

/** The rules in force. One certificate object belongs to one connection, so its user is looked up once. */
interface Rules {
  readonly entries: readonly Entry[];
  readonly answers: WeakMap<ClientCertificate, Authentication>;
}

const CROSS_SITE: Authentication = Object.freeze({ kind: 'refused', reason: 'a page of another site' });
/** The time for which the answer of a rule function is cached, in ms. */
const RULE_MS = 60_000;
const UNKNOWN: Authentication = Object.freeze({ kind: 'refused', reason: 'unknown certificate' });

/**
 * Certificates of clients in mutual TLS (RFC 8446 §4.4.2), from the connection or from a trusted proxy. A certificate
 * that is expired, of another authority or unknown is refused.
 */
export class ClientCertificates implements Authenticator {
  readonly challenges = ['Certificate'] as const;
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly needsClientCertificate: boolean;
  readonly #schemeName: string;
  readonly #trustedOrigins: readonly string[];
  readonly #clock: Clock;
  readonly #forwarded: ForwardedCertificate | undefined;
  readonly #rule: CertificateRule | undefined;
  #rules: Rules;

  /** @throws OptionsError for rules without a condition, wrong proxies, and a header that the host cannot read. */
  constructor({ users, clock, schemeName = 'mtls', trustedOrigins = [], forwarded }: ClientCertificatesSetup) {
    this.#schemeName = schemeName;
    this.#trustedOrigins = trustedOrigins;
    this.#clock = clock;
    this.securitySchemes = { [schemeName]: { mtlsSecurityScheme: {} } };
    this.#forwarded = forwarded && forwardedCertificate(forwarded);
    this.needsClientCertificate = forwarded === undefined;
    this.#rule = typeof users === 'function' ? users : undefined;
    this.#rules = rulesOf(typeof users === 'function' ? [] : users);
  }

  /**
   * Replaces all rules. Running streams of removed and changed users end.
   * @throws OptionsError naming the subjects of rules without a condition; the rules are not changed.
   */
  replace(users: readonly CertificateUser[]): void {
    this.#rules = rulesOf(users, this.#rules.entries);
  }

  authenticate(credentials: Credentials): Authentication {
    const certificate = this.#forwarded === undefined ? credentials.clientCertificate : this.#forwarded(credentials);
    if (certificate === undefined) return ANONYMOUS;
    const ofConnection = openingHeaders(credentials);
    if (isAttachedCrossSite(credentials, this.#trustedOrigins, ofConnection)) return CROSS_SITE;
    if (certificate.problem !== undefined) return { kind: 'refused', reason: certificate.problem };
    const { answers } = this.#rules;
    const now = this.#clock.now();
    let known = answers.get(certificate);
    if (known === undefined || (known.kind === 'user' && known.askAgainAt !== undefined && known.askAgainAt <= now)) {
      known = this.#answerOf(certificate);
      answers.set(certificate, known);
    }
    if (known.kind !== 'user') return known;
    const isEarly = certificate.startsAt !== undefined && certificate.startsAt > now;
    if (isEarly) return { kind: 'refused', reason: 'not valid yet' };
    const { expiresAt } = known.user;
    return expiresAt !== undefined && expiresAt <= now ? { kind: 'refused', reason: 'expired' } : known;
  }

  #answerOf(certificate: ClientCertificate): Authentication {
    if (this.#rule !== undefined) {
      const owner = this.#rule(certificate);
      if (owner === undefined) return UNKNOWN;
      const problems = ownerProblems(owner);
      if (problems.length > 0) throw new OptionsError('The rule of ClientCertificates', problems);
      return { ...this.#userOf(owner, certificate), askAgainAt: this.#clock.now() + RULE_MS };
    }
    const entry = this.#rules.entries.find(({ user }) => matches(certificate, user));
    if (entry === undefined) return UNKNOWN;
    return { ...this.#userOf(entry.user, certificate), revoked: entry.revocation.signal };
  }

  /** The user, until the certificate or the rule ends. */
  #userOf(owner: CredentialOwner, { expiresAt = Number.POSITIVE_INFINITY }: ClientCertificate): KnownUser {
    const end = Math.min(expiresAt, owner.expiresAt === undefined ? Number.POSITIVE_INFINITY : timeOf(owner.expiresAt));
    const source = { issuer: 'mtls', schemeName: this.#schemeName };
    return {
      kind: 'user',
      user: ownerAsUser(end < Number.POSITIVE_INFINITY ? { ...owner, expiresAt: end } : owner, source),
      pageAllowed: true,
    };
  }
}

const MATCHES = ['fingerprint', 'commonName', 'dnsName', 'uri', 'email'] as const;

function rulesOf(users: readonly CertificateUser[], previous: readonly Entry[] = []): Rules {
  const problems = credentialList('ClientCertificates', users).flatMap((user) => [
    ...ownerProblems(user, MATCHES),
    ...MATCHES.filter((name) => user[name] !== undefined && typeof user[name] !== 'string').map(
      (name) => `${name} of ${user.subject} must be a text`,
    ),
    ...(MATCHES.some((name) => user[name] !== undefined)
      ? []
      : [`the rule of ${user.subject} needs one of ${MATCHES.join(', ')}`]),
  ]);
  if (problems.length > 0) throw new OptionsError('ClientCertificates', problems);
  const before = new Map(previous.map((entry) => [entry.text, entry]));
  const entries = users.map((user) => {
    const text = JSON.stringify(user);
    const known = before.get(text);
    before.delete(text);
    return known ?? { user, text, revocation: new AbortController() };
  });
  for (const { revocation } of before.values()) revocation.abort(new Error('The credential was revoked'));
  return { entries, answers: new WeakMap() };
}

function matches(certificate: ClientCertificate, rule: CertificateMatch): boolean {
  const { CN: commonNames = [] } = certificate.subject;
  return (
    isOr(rule.fingerprint?.replaceAll(':', '').toLowerCase(), (one) => certificate.fingerprint === one) &&
    isOr(rule.commonName, (one) => commonNames.length === 1 && commonNames[0] === one) &&
    isOr(rule.dnsName?.toLowerCase(), (one) => certificate.dnsNames.some((name) => name.toLowerCase() === one)) &&
    isOr(rule.uri, (one) => certificate.uris.includes(one)) &&
    isOr(rule.email, (one) => certificate.emails.includes(one))
  );
}

/** True if the rule does not ask for a member, or if the certificate has it. */
function isOr(asked: string | undefined, has: (asked: string) => boolean): boolean {
  return asked === undefined || has(asked);
}
