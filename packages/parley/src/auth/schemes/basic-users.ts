import { A2AError } from '../../errors/a2a-error.js';
import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import {
  nonEmpty,
  type OptionSchemas,
  optionObject,
  positive,
  text,
  texts,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import { sha256Hex } from '../../runtime/sha256.js';
import { type Logger, silentLogger } from '../../telemetry/logger.js';
import {
  ANONYMOUS,
  type Authentication,
  type Authenticator,
  type Credentials,
  type KnownUser,
} from '../authenticator.js';
import { isAttachedCrossSite } from '../cross-site.js';
import { type CredentialOwner, ownerProblems } from './api-key.js';
import { type BasicCredentials, readBasicCredentials } from './basic-credentials.js';
import { ownerAsUser } from './credential-users.js';
import { FairPlaces } from './fair-places.js';
import {
  DEFAULT_ITERATIONS,
  derivedHash,
  hasHash,
  type PasswordHash,
  readPasswordHash,
  writePasswordHash,
} from './password-hash.js';
import { ReloadedList } from './reloaded-list.js';

/** A user with a password. The subject is the name to sign in with. `passwordHash` is a text of `hashPassword`. */
export type BasicUser = ({ readonly password: string } | { readonly passwordHash: string }) & CredentialOwner;

/** Returns the current users. Called again for changes; the same array stands for the same users. */
export type BasicUserSource = () => readonly BasicUser[] | Promise<readonly BasicUser[]>;

/** Options of `BasicUsers`. */
export interface BasicUsersOptions {
  /** The realm that clients show to people. Default `agent`. */
  readonly realm?: string;
  /**
   * Origins of other sites, such as `https://app.example`, whose pages may change something. A browser sends a known
   * password with requests of every page.
   */
  readonly trustedOrigins?: readonly string[];
  /** The name of the scheme in the card. Default `basic`. */
  readonly schemeName?: string;
  /** The time after which a source of users is read again. Default 5 s. */
  readonly reloadMs?: number;
  /** The time for which a verified password is not hashed again. Default 5 min; 0 for every time. */
  readonly verifiedMs?: number;
  /** Gets failures to read the source. */
  readonly logger?: Logger;
}

const schemas: OptionSchemas<BasicUsersOptions> = {
  realm: Type.Optional(text),
  trustedOrigins: Type.Optional(texts),
  schemeName: Type.Optional(nonEmpty),
  reloadMs: Type.Optional(positive),
  verifiedMs: Type.Optional(Type.Number({ minimum: 0 })),
  logger: Type.Optional(withMethod('error')),
};

/** The schema of BasicUsersOptions. */
export const basicUsersSchema = optionObject(schemas);

/** All that makes a `BasicUsers`. */
export interface BasicUsersSetup extends BasicUsersOptions {
  readonly users: readonly BasicUser[] | BasicUserSource;
  readonly clock: Clock;
  /** Random bytes. */
  readonly random: (length: number) => Uint8Array<ArrayBuffer>;
}

interface Entry {
  readonly hash: PasswordHash;
  readonly answer: KnownUser;
  readonly revocation: AbortController;
  /** The owner and the secret as JSON, to detect unchanged users in a new list. */
  readonly identity: string;
}

interface Users {
  readonly byName: ReadonlyMap<string, Entry>;
  /** Hashed for unknown names, so that they take as long as wrong passwords. */
  readonly unknown: PasswordHash;
  /** Answers by the keyed hash of name and password. */
  readonly verified: Map<string, { readonly answer: KnownUser; readonly until: number }>;
}

/** Credentials from a group of addresses. */
interface Attempt extends BasicCredentials {
  readonly client: string;
}

const CROSS_SITE: Authentication = Object.freeze({ kind: 'refused', reason: 'a page of another site' });

/** Maximum number of concurrent hashes. They share the four threads of Node.js with files and name look-ups. */
const RUNNING = 2;
/** Maximum number of requests that wait for a hash. At 0.2 s for a hash the last one waits 6 s. */
const WAITING = 64;
const VERIFIED = 10_000;
const BUSY_RETRY_MS = 2_000;

/**
 * Names and passwords as HTTP Basic (RFC 7617). Stores slow hashes, and caches a fast keyed hash of each password that
 * was verified lately. An unknown name takes as long as a wrong password. Addresses take turns: many wrong passwords
 * from one address delay a user at another address by one hash.
 */
export class BasicUsers implements Authenticator {
  readonly challenges: readonly string[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly #setup: BasicUsersSetup;
  readonly #schemeName: string;
  readonly #users: ReloadedList<BasicUser, Users>;
  /** Random for each process, so that the keys of verified passwords reveal nothing. */
  readonly #pepper: string;
  /** Checks that run or wait, by the same keyed hash. */
  readonly #checks = new Map<string, Promise<Authentication>>();
  readonly #places = new FairPlaces({ running: RUNNING, waiting: WAITING });

  /** @throws OptionsError naming the subjects with an invalid name or hash. */
  constructor(setup: BasicUsersSetup) {
    const { realm = 'agent', schemeName = 'basic' } = setup;
    if (!/^[ !#-[\]-~]*$/.test(realm))
      throw new OptionsError('BasicUsers', ['realm: must be plain text without quotes']);
    this.#setup = setup;
    this.#schemeName = schemeName;
    this.#pepper = Array.from(setup.random(16)).join(' ');
    this.challenges = [`Basic realm="${realm}", charset="UTF-8"`];
    this.securitySchemes = { [schemeName]: { httpAuthSecurityScheme: { scheme: 'Basic' } } };
    this.#users = new ReloadedList({
      list: setup.users,
      reloadMs: setup.reloadMs ?? 5_000,
      clock: setup.clock,
      logger: setup.logger ?? silentLogger,
      title: 'BasicUsers',
      read: (list, previous) => this.#read(list, previous),
    });
  }

  /** Replaces all users. Running streams of removed and changed users end. Rejects for invalid users. */
  replace(users: readonly BasicUser[]): Promise<void> {
    return this.#users.replace(users);
  }

  /** @throws A2AError RESOURCE_EXHAUSTED (`waitingPasswords`) if too many passwords wait for their hash. */
  authenticate(credentials: Credentials): Authentication | Promise<Authentication> {
    const header = credentials.header('authorization');
    if (header === undefined) return ANONYMOUS;
    const presented = readBasicCredentials(header);
    if (typeof presented === 'string') return { kind: 'refused', reason: presented };
    if (isAttachedCrossSite(credentials, this.#setup.trustedOrigins)) return CROSS_SITE;
    const attempt = { ...presented, client: credentials.clientGroup ?? credentials.peer ?? '' };
    const key = sha256Hex(JSON.stringify([this.#pepper, presented.name, presented.password]));
    const users = this.#users.current;
    if (users === undefined || typeof key !== 'string') return this.#authenticateLater(attempt, key);
    return this.#answer(attempt, { users, key });
  }

  async #authenticateLater(attempt: Attempt, key: string | Promise<string>): Promise<Authentication> {
    return this.#answer(attempt, { users: await this.#users.loaded(), key: await key });
  }

  #answer(
    attempt: Attempt,
    { users, key }: { readonly users: Users; readonly key: string },
  ): Authentication | Promise<Authentication> {
    const now = this.#setup.clock.now();
    const verified = users.verified.get(key);
    if (verified !== undefined && verified.until > now) return unlessExpired(verified.answer, now);
    const running = this.#checks.get(key);
    if (running !== undefined) return running;
    const check = this.#check(attempt, { users, key }).finally(() => this.#checks.delete(key));
    this.#checks.set(key, check);
    return check;
  }

  async #check(
    { name, password, client }: Attempt,
    { users, key }: { readonly users: Users; readonly key: string },
  ): Promise<Authentication> {
    const entry = users.byName.get(name);
    if (!(await this.#places.take(client))) {
      const message = 'Too many passwords wait for their check';
      const details = { metadata: { limit: 'waitingPasswords' }, retryAfterMs: BUSY_RETRY_MS };
      throw new A2AError('RESOURCE_EXHAUSTED', message, details);
    }
    try {
      const hash = entry?.hash ?? users.unknown;
      const isRight = await hasHash(password, hash);
      if (!isRight || entry === undefined) {
        // Adds iterations for a cheaper hash, so that the time does not reveal a known name.
        const iterations = users.unknown.iterations - hash.iterations;
        if (iterations > 0) await derivedHash(password, { salt: users.unknown.salt, iterations });
        return { kind: 'refused', reason: 'unknown name or wrong password' };
      }
    } finally {
      this.#places.give();
    }
    const now = this.#setup.clock.now();
    remember(users.verified, key, { answer: entry.answer, until: now + (this.#setup.verifiedMs ?? 300_000) });
    return unlessExpired(entry.answer, now);
  }

  async #read(list: readonly BasicUser[], previous: Users | undefined): Promise<Users> {
    const problems = list.flatMap(userProblems);
    const names = list.map(({ subject }) => String(subject).normalize('NFC'));
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    if (twice.length > 0) problems.push(`the subject ${twice[0]} comes twice`);
    if (problems.length > 0) throw new OptionsError('BasicUsers', problems);
    const before = new Map(previous?.byName);
    const byName = new Map<string, Entry>();
    for (const [at, user] of list.entries()) {
      const name = names[at] ?? '';
      const entry = await this.#entryOf(user, before.get(name));
      byName.set(name, entry);
      if (before.get(name) === entry) before.delete(name);
    }
    for (const { revocation } of before.values()) revocation.abort(new Error('The credential was revoked'));
    const iterations = Math.max(...[...byName.values()].map(({ hash }) => hash.iterations), 0) || DEFAULT_ITERATIONS;
    const unknown = { iterations, salt: this.#setup.random(16), hash: this.#setup.random(32) };
    return { byName, unknown, verified: new Map() };
  }

  async #entryOf(user: BasicUser, before: Entry | undefined): Promise<Entry> {
    const identity = await sha256Hex(JSON.stringify([this.#pepper, user]));
    if (before?.identity === identity) return before;
    const salt = this.#setup.random(16);
    const given = 'passwordHash' in user ? readPasswordHash(user.passwordHash) : undefined;
    const hash =
      given ?? (await derivedHash('password' in user ? user.password : '', { salt, iterations: DEFAULT_ITERATIONS }));
    const revocation = new AbortController();
    const known = ownerAsUser(user, { issuer: 'basic', schemeName: this.#schemeName });
    return {
      hash,
      identity,
      revocation,
      answer: Object.freeze({ kind: 'user', user: known, revoked: revocation.signal, pageAllowed: true }),
    };
  }
}

/**
 * The hash of a password for `passwordHash`.
 * @throws OptionsError for an empty password.
 */
export async function newPasswordHash(
  password: string,
  { salt, iterations = DEFAULT_ITERATIONS }: { readonly salt: Uint8Array<ArrayBuffer>; readonly iterations?: number },
): Promise<string> {
  if (password === '') throw new OptionsError('hashPassword', ['the password must not be empty']);
  return writePasswordHash(await derivedHash(password, { salt, iterations }));
}

/** Keeps the newest entries. */
function remember<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > VERIFIED && oldest !== undefined) entries.delete(oldest);
}

function unlessExpired(answer: KnownUser, now: number): Authentication {
  const { expiresAt } = answer.user;
  return expiresAt !== undefined && expiresAt <= now ? { kind: 'refused', reason: 'expired' } : answer;
}

/** The problems of a user, without its password. */
function userProblems(user: BasicUser): string[] {
  const problems = ownerProblems(user, ['password', 'passwordHash']);
  const { subject } = user;
  if ('password' in user && 'passwordHash' in user)
    problems.push(`${subject} must have either password or passwordHash`);
  if (typeof subject !== 'string') return problems;
  if (/[:\p{Cc}]/u.test(subject)) problems.push(`the subject ${JSON.stringify(subject)} must not have a colon`);
  if ('passwordHash' in user) {
    if (readPasswordHash(String(user.passwordHash)) === undefined)
      problems.push(`the passwordHash of ${subject} must be a text of hashPassword`);
  } else if (typeof user.password !== 'string' || user.password === '' || /\p{Cc}/u.test(user.password)) {
    problems.push(`the password of ${subject} must be a text without control characters`);
  }
  return problems;
}
