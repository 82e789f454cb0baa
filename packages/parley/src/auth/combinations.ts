import { OptionsError } from '../errors/options-error.js';
import { canonicalJson } from '../model/canonical-json.js';
import type { JsonValue } from '../model/json.js';
import { isObject } from '../model/json.js';
import type { SecurityRequirement, SecurityScheme } from '../model/security-scheme.js';
import { checkOptions } from '../options/check-options.js';
import { flag, optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import {
  ANONYMOUS,
  type Authentication,
  type Authenticator,
  type Credentials,
  checkAnswer,
  type KnownUser,
} from './authenticator.js';
import { requirementsOf } from './requirements.js';
import { areOneCaller, type User } from './user.js';

type Refused = Extract<Authentication, { readonly kind: 'refused' }>;

/** The answers of the members of a combination so far. */
interface Answers {
  readonly found: Authentication[];
  readonly errors: unknown[];
}

/**
 * The authenticator that takes a credential of any of the members. They are asked in this order, and the first user is
 * the user. It is optional if one of them is.
 * @throws OptionsError for members that are no authenticators, or have different schemes of one name.
 */
export function anyOf(...members: readonly Authenticator[]): Authenticator {
  return combine('anyOf', {
    members,
    optional: members.some((one) => one?.optional === true),
    securityRequirements: checkMembers('anyOf', members).flatMap(requirementsOf),
    settles: ({ found }) => found.at(-1)?.kind === 'user',
    answer: ({ found, errors }) => {
      const last = found.at(-1);
      if (last?.kind === 'user') return last;
      // A member that cannot decide now might know the user.
      if (errors.length > 0) throw errors[0];
      return refusalOf(found, members) ?? ANONYMOUS;
    },
  });
}

/** Options of `allOf`. */
export interface AllOfOptions {
  /**
   * True if the credentials of a request may name different users, such as a person and the gateway in between. The
   * user then has the scopes of both. Default: such a request is refused.
   */
  readonly differentUsers?: boolean;
}

/**
 * Combines authenticators that must all accept the request. The first member names the user. The user has the scopes
 * and permissions of all credentials, the tenants that all of them allow, and the earliest expiry. If a credential has
 * no list of tenants, the operator's rule decides too. Credentials of users with different subjects are refused, unless
 * the options allow them. So is a client of an authorization server beside a user. A credential of an optional member
 * may be absent.
 * @throws OptionsError if two members have different schemes of one name, and for unknown options.
 */
export function allOf(...given: readonly Authenticator[] | readonly [...Authenticator[], AllOfOptions]): Authenticator {
  const { members, options } = membersAndOptions(given);
  const { differentUsers = false } = checkOptions({ subject: 'allOf', schema: allOfSchema, options });
  const join = joinedUsers();
  const isOptional = (at: number) => members[at]?.optional === true;
  return combine('allOf', {
    members,
    optional: members.every((one) => one?.optional === true),
    securityRequirements: checkMembers('allOf', members)
      .map(requirementsOf)
      .reduce(crossProduct, [{ schemes: {} }]),
    settles: ({ found }) => found.at(-1)?.kind === 'refused',
    answer: ({ found, errors }) => {
      const refusal = refusalOf(found, members);
      if (refusal !== undefined) return refusal;
      if (errors.length > 0) throw errors[0];
      const known = found.filter((one) => one.kind === 'user');
      if (known.length === 0) return ANONYMOUS;
      known.forEach(checkAnswer);
      const absent = members.filter((_, at) => found[at]?.kind === 'anonymous' && !isOptional(at));
      const isOne = differentUsers || areOneCaller(known.map(({ user }) => user.id));
      if (!isOne) return { kind: 'refused', reason: 'the credentials name different users' };
      if (absent.length === 0) return join(known);
      const challenges = absent.flatMap((one) => one.challenges);
      return { kind: 'refused', reason: 'a further credential is missing', challenges };
    },
  });
}

const allOfSchema = optionObject({ differentUsers: Type.Optional(flag) });

/** The options are the last argument. Any other object that is no authenticator is a mistake. */
function membersAndOptions(given: readonly (Authenticator | AllOfOptions)[]): {
  readonly members: readonly Authenticator[];
  readonly options: AllOfOptions;
} {
  const last = given.at(-1);
  const isMember = !isObject(last) || last instanceof Promise || 'authenticate' in last;
  const members = (isMember ? given : given.slice(0, -1)) as readonly Authenticator[];
  return { members, options: isMember ? {} : (last as AllOfOptions) };
}

interface Combination {
  readonly members: readonly Authenticator[];
  readonly optional: boolean;
  readonly securityRequirements: readonly SecurityRequirement[];
  /** True if no further member needs to be asked. */
  settles(answers: Answers): boolean;
  answer(answers: Answers): Authentication;
}

function combine(title: string, combination: Combination): Authenticator {
  const { members, securityRequirements } = combination;
  return {
    challenges: [...new Set(members.flatMap(({ challenges }) => challenges))],
    securitySchemes: mergedSchemes(title, members),
    securityRequirements,
    ...mergedResource(members),
    ...(combination.optional && { optional: true }),
    ...(members.some((one) => one.needsClientCertificate) && { needsClientCertificate: true }),
    authenticate: (credentials) => askMembers(combination, credentials),
  };
}

/** The members of a combination. */
function checkMembers(title: string, members: readonly Authenticator[]): readonly Authenticator[] {
  if (members.some((one) => typeof one?.authenticate !== 'function'))
    throw new OptionsError(title, ['each argument must be an authenticator, not a list or a promise of one']);
  if (members.length === 0) throw new OptionsError(title, ['needs at least one authenticator']);
  return members;
}

/** Asks one member after the other. Stays synchronous while the members do. */
function askMembers(
  combination: Combination,
  credentials: Credentials,
  answers: Answers = { found: [], errors: [] },
  from = 0,
): Authentication | Promise<Authentication> {
  for (let at = from; at < combination.members.length; at++) {
    const found = answerOf(combination.members[at], credentials, answers);
    if (found !== undefined && 'then' in found) {
      return found.then(
        (settled) => {
          answers.found.push(settled);
          return combination.settles(answers)
            ? combination.answer(answers)
            : askMembers(combination, credentials, answers, at + 1);
        },
        (error: unknown) => {
          recordFailure(answers, error);
          return askMembers(combination, credentials, answers, at + 1);
        },
      );
    }
    if (found !== undefined) answers.found.push(found);
    if (combination.settles(answers)) break;
  }
  return combination.answer(answers);
}

function answerOf(
  member: Authenticator | undefined,
  credentials: Credentials,
  answers: Answers,
): Authentication | Promise<Authentication> | undefined {
  try {
    return member?.authenticate(credentials);
  } catch (error) {
    recordFailure(answers, error);
    return undefined;
  }
}

/** Filled at its place in the list, so that answers stay aligned with the members. */
function recordFailure(answers: Answers, error: unknown): void {
  answers.errors.push(error);
  answers.found.push(ANONYMOUS);
}

/** One refusal for all: 403 if a user lacks only scopes, otherwise 401 with the challenges of all members. */
function refusalOf(found: readonly Authentication[], members: readonly Authenticator[]): Refused | undefined {
  const refused = found.filter((one) => one.kind === 'refused');
  const forbidden = refused.find(({ missingScopes = [] }) => missingScopes.length > 0);
  if (forbidden !== undefined || refused.length === 0) return forbidden;
  const challenges = members.flatMap((member, at) => {
    const one = found[at];
    return one?.kind === 'refused' ? (one.challenges ?? member.challenges) : member.challenges;
  });
  const reason = refused.map((one) => one.reason).join(', ');
  return { kind: 'refused', reason, challenges: [...new Set(challenges)] };
}

const jsonOf = (scheme: SecurityScheme): string => canonicalJson(scheme as unknown as JsonValue);

function mergedSchemes(title: string, members: readonly Authenticator[]): Readonly<Record<string, SecurityScheme>> {
  const merged: Record<string, SecurityScheme> = {};
  for (const [name, scheme] of members.flatMap((one) => Object.entries(one.securitySchemes ?? {}))) {
    const other = Object.hasOwn(merged, name) ? merged[name] : undefined;
    if (other !== undefined && jsonOf(other) !== jsonOf(scheme))
      throw new OptionsError(title, [`two schemes have the name ${name}. Set schemeName of one of them`]);
    merged[name] = scheme;
  }
  return merged;
}

/** The tokens that the members take, as one protected resource. */
function mergedResource(members: readonly Authenticator[]): Pick<Authenticator, 'protectedResource'> {
  const resources = members.flatMap(({ protectedResource }) => protectedResource ?? []);
  if (resources.length === 0) return {};
  const authorizationServers = [...new Set(resources.flatMap((one) => one.authorizationServers))];
  return { protectedResource: { authorizationServers, scopes: [...new Set(resources.flatMap((one) => one.scopes))] } };
}

/** Each requirement of the left side together with each of the right side. */
function crossProduct(
  left: readonly SecurityRequirement[],
  right: readonly SecurityRequirement[],
): readonly SecurityRequirement[] {
  if (right.length === 0) return left;
  return left.flatMap((one) => right.map((other) => ({ schemes: together(one.schemes, other.schemes) })));
}

function together(
  left: SecurityRequirement['schemes'] = {},
  right: SecurityRequirement['schemes'] = {},
): NonNullable<SecurityRequirement['schemes']> {
  const schemes = { ...left };
  for (const [name, { list = [] }] of Object.entries(right)) {
    const all = [...new Set([...(schemes[name]?.list ?? []), ...list])];
    schemes[name] = all.length === 0 ? {} : { list: all };
  }
  return schemes;
}

/** Joins users. Returns the same answer for equal users, so that one signal revokes it. */
function joinedUsers(): (known: readonly KnownUser[]) => KnownUser {
  const last = new WeakMap<User, { readonly known: readonly KnownUser[]; readonly answer: KnownUser }>();
  return (known) => {
    const [first, ...others] = known as readonly [KnownUser, ...KnownUser[]];
    if (others.length === 0) return first;
    const before = last.get(first.user);
    const isSame = before?.known.length === known.length && before.known.every((one, at) => isEqual(one, known[at]));
    if (before !== undefined && isSame) return before.answer;
    const times = known.flatMap(({ askAgainAt }) => askAgainAt ?? []);
    const signals = known.flatMap(({ revoked }) => revoked ?? []);
    const answer: KnownUser = {
      kind: 'user',
      user: joinedUser(
        first.user,
        known.map(({ user }) => user),
      ),
      ...(signals.length > 0 && { revoked: AbortSignal.any(signals) }),
      ...(times.length > 0 && { askAgainAt: Math.min(...times) }),
      ...(known.every(({ pageAllowed }) => pageAllowed) && { pageAllowed: true }),
    };
    last.set(first.user, { known, answer });
    return answer;
  };
}

/** True if two answers say the same. Their user alone may be the same with another page, end or revocation. */
function isEqual(one: KnownUser, other: KnownUser | undefined): boolean {
  return (
    one.user === other?.user &&
    one.askAgainAt === other.askAgainAt &&
    one.revoked === other.revoked &&
    one.pageAllowed === other.pageAllowed
  );
}

function joinedUser(first: User, users: readonly User[]): User {
  const union = (lists: readonly (readonly string[] | undefined)[]) =>
    lists.some((list) => list !== undefined) ? [...new Set(lists.flatMap((list) => list ?? []))] : undefined;
  const scopes = union(users.map((one) => one.scopes));
  const permissions = union(users.map((one) => one.permissions));
  // If one user does not name its schemes, those of the combination are unknown.
  const schemes = users.every((one) => one.schemes !== undefined) ? union(users.map((one) => one.schemes)) : undefined;
  const tenants = users
    .map((one) => one.tenants)
    .reduce((left, right) => (left && right ? left.filter((one) => right.includes(one)) : (left ?? right)));
  const isRuled = users.some((one) => one.tenants === undefined || one.needsTenantRule === true);
  const ends = users.flatMap(({ expiresAt }) => expiresAt ?? []);
  const { schemes: _, needsTenantRule: __, ...identity } = first;
  return Object.freeze({
    ...identity,
    ...(schemes && { schemes }),
    ...(scopes && { scopes }),
    ...(permissions && { permissions }),
    ...(tenants && { tenants }),
    ...(tenants && isRuled && { needsTenantRule: true as const }),
    ...(ends.length > 0 && { expiresAt: Math.min(...ends) }),
  });
}
