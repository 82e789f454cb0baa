import { OptionsError } from '../errors/options-error.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import type { SecurityRequirement } from '../model/security-scheme.js';
import { refuseArgument } from '../options/refuse-argument.js';
import type { Authentication, Authenticator, Credentials } from './authenticator.js';
import type { User } from './user.js';

/** The reason why a user meets no requirement. */
interface UnmetRequirement {
  /** The scopes that the user lacks. Empty: the user needs a credential of another scheme. */
  readonly missingScopes: readonly string[];
}

/** The requirements of an authenticator for the card. An optional one also has an empty requirement. */
export function requirementsOf({
  securityRequirements,
  securitySchemes = {},
  optional,
}: Authenticator): readonly SecurityRequirement[] {
  const given = securityRequirements ?? Object.keys(securitySchemes).map((name) => ({ schemes: { [name]: {} } }));
  return optional === true && given.length > 0 && !given.some(isOpen) ? [...given, { schemes: {} }] : given;
}

/**
 * The reason why a user meets none of the requirements; `undefined` if one is met, or if there are none. The schemes of
 * a user from an authenticator that does not name them count as satisfied.
 */
function unmetRequirement(
  user: User | undefined,
  requirements: readonly SecurityRequirement[] | undefined,
): UnmetRequirement | undefined {
  if (requirements === undefined || requirements.length === 0) return undefined;
  let closest: readonly string[] | undefined;
  for (const requirement of requirements) {
    const missing = missingScopes(user, requirement);
    if (missing === undefined) continue;
    if (missing.length === 0) return undefined;
    if (closest === undefined || missing.length < closest.length) closest = missing;
  }
  return { missingScopes: closest ?? [] };
}

/**
 * True if a user may use a skill of a card: the user meets one of its requirements (Spec §4.4.5). `undefined` stands
 * for an anonymous caller.
 */
export function mayUseSkill(
  user: User | undefined,
  skill: { readonly securityRequirements?: readonly SecurityRequirement[] },
): boolean {
  if (Object(skill) !== skill) refuseArgument('mayUseSkill', 'a user and a skill of a card', skill);
  const { securityRequirements } = skill;
  return unmetRequirement(user, securityRequirements) === undefined;
}

/**
 * Refuses a message from a user who may use no skill of the agent. `requirements` are those of all skills.
 * @throws UnauthenticatedError for an anonymous caller, and for a user who needs a credential of another scheme.
 * @throws PermissionDeniedError naming the scopes that the user lacks.
 */
export function requireSkill(user: User | undefined, requirements: readonly SecurityRequirement[]): void {
  const unmet = unmetRequirement(user, requirements);
  if (unmet === undefined) return;
  // Without challenges of its own the answer has those of the authenticator.
  if (unmet.missingScopes.length === 0) {
    const message = user && 'The credential is of a scheme with which no skill of this agent can be used';
    throw new UnauthenticatedError([], message);
  }
  const scope = unmet.missingScopes.join(' ');
  const message = `The credential lacks the scope ${scope}, without which no skill of this agent can be used`;
  throw new PermissionDeniedError(message, [`Bearer error="insufficient_scope", scope="${scope}"`]);
}

/**
 * Wraps an authenticator so that it refuses users who meet none of the requirements. A user who lacks only scopes gets
 * 403 with their names. Anonymous callers pass only if the authenticator is optional and one requirement is empty.
 */
export function withRequirements(
  authenticator: Authenticator,
  securityRequirements: readonly SecurityRequirement[],
): Authenticator {
  const check = (found: Authentication): Authentication => {
    const unmet = found.kind === 'user' ? unmetRequirement(found.user, securityRequirements) : undefined;
    return unmet === undefined ? found : { kind: 'refused', reason: 'a requirement is not met', ...unmet };
  };
  const isOptional =
    authenticator.optional === true && (securityRequirements.length === 0 || securityRequirements.some(isOpen));
  return derive(authenticator, {
    securityRequirements,
    optional: isOptional,
    authenticate: (credentials) => {
      const found = authenticator.authenticate(credentials);
      return 'then' in found ? found.then(check) : check(found);
    },
  });
}

/**
 * Wraps an authenticator so that each user needs these scopes. The card declares them, and a user who lacks one gets
 * 403 with its name. Anonymous callers of an optional authenticator are not checked.
 * @throws OptionsError without a scope.
 */
export function requireScopes(authenticator: Authenticator, ...scopes: readonly string[]): Authenticator {
  if (scopes.length === 0 || scopes.some((scope) => typeof scope !== 'string' || scope === ''))
    throw new OptionsError('requireScopes', ['needs at least one scope, each a text and not a list']);
  if (typeof authenticator?.authenticate !== 'function')
    refuseArgument('requireScopes', 'an authenticator and scopes', authenticator);
  const requirements = requirementsOf(authenticator).map(({ schemes = {} }) => ({
    schemes: Object.fromEntries(
      Object.entries(schemes).map(([name, { list = [] }]) => [name, { list: [...new Set([...list, ...scopes])] }]),
    ),
  }));
  const closed = requirements.filter((one) => !isOpen(one));
  // Without schemes the card cannot declare scopes.
  const asked = withRequirements(authenticator, closed.length > 0 ? closed : [{ schemes: { '': { list: scopes } } }]);
  return derive(authenticator, {
    ...(closed.length > 0 && { securityRequirements: requirements }),
    authenticate: (credentials) => asked.authenticate(credentials),
  });
}

/** Wraps an authenticator so that callers without a credential are anonymous. A wrong credential is still refused. */
export function optional(authenticator: Authenticator): Authenticator {
  if (typeof authenticator?.authenticate !== 'function') refuseArgument('optional', 'an authenticator', authenticator);
  return derive(authenticator, {
    optional: true,
    authenticate: (credentials: Credentials) => authenticator.authenticate(credentials),
  });
}

/** Returns an authenticator with the members of another one, some of them replaced. */
function derive(
  authenticator: Authenticator,
  changes: Pick<Authenticator, 'authenticate'> & Partial<Authenticator>,
): Authenticator {
  const { challenges, securitySchemes, securityRequirements, protectedResource, needsClientCertificate } =
    authenticator;
  return {
    challenges,
    ...(securitySchemes && { securitySchemes }),
    ...(securityRequirements && { securityRequirements }),
    ...(protectedResource && { protectedResource }),
    ...(needsClientCertificate === true && { needsClientCertificate }),
    ...(authenticator.optional === true && { optional: true }),
    ...changes,
  };
}

function isOpen({ schemes = {} }: SecurityRequirement): boolean {
  return Object.keys(schemes).length === 0;
}

/** The scopes of a requirement that a user lacks; `undefined` if the user lacks one of its schemes. */
function missingScopes(user: User | undefined, { schemes = {} }: SecurityRequirement): readonly string[] | undefined {
  const names = Object.keys(schemes);
  if (names.length === 0) return [];
  if (user === undefined) return undefined;
  if (user.schemes !== undefined && !names.every((name) => user.schemes?.includes(name))) return undefined;
  const wanted = new Set(names.flatMap((name) => schemes[name]?.list ?? []));
  return [...wanted].filter((scope) => !(user.scopes ?? []).includes(scope));
}
