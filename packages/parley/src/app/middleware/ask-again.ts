import { answerFault, type Credentials, type KnownUser } from '../../auth/authenticator.js';
import type { User } from '../../auth/user.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { CredentialEnds } from './credential-ends.js';
import type { Access } from './gate.js';

/** The ports of a gate that asks again. */
export interface AskingPorts {
  readonly ends: CredentialEnds;
  readonly clock: Clock;
}

/** A call that goes on after the first answer about its credential. */
export interface AskedCall extends AskingPorts {
  readonly access: Access;
  readonly credentials: Credentials;
  readonly found: KnownUser;
}

/** The shortest time between two questions about a call. */
const LEAST_MS = 1_000;
/** Time until the next question if the authenticator cannot tell now. */
const RETRY_MS = 10_000;
/** The time for which a call goes on while the authenticator cannot tell. */
const UNKNOWN_MS = 3_600_000;

/**
 * Asks the authenticator again about the credential of a running call, now and whenever its answer asks for that. Calls
 * `ended` once: when the credential ends, or no longer proves the same user with all rights of the first answer. The
 * returned function stops that.
 */
export function askAgain({ access, credentials, found, ends, clock }: AskedCall, ended: () => void): () => void {
  let stop: (() => void) | undefined;
  let isOver = false;
  let known = found;
  let knownAt = clock.now();
  const end = () => {
    if (isOver) return;
    isOver = true;
    stop?.();
    ended();
  };
  const watch = (at: number | undefined) => {
    stop?.();
    stop = undefined;
    const { user, revoked } = known;
    const { expiresAt = Number.POSITIVE_INFINITY } = user;
    const isLast = at === undefined || expiresAt <= at;
    const next = isLast ? user.expiresAt : at;
    stop = ends.watch({ expiresAt: next, revoked }, isLast ? end : () => (revoked?.aborted ? end() : void ask()));
  };
  const ask = async () => {
    // The credential can also end during the question.
    watch(undefined);
    try {
      const answer = await access.authenticator.authenticate(credentials);
      if (isOver) return;
      if (answer.kind !== 'user' || answerFault(answer) !== undefined) return end();
      if (!isStill(found.user, answer.user)) return end();
      known = answer;
      knownAt = clock.now();
    } catch (error) {
      if (isOver) return;
      const isDecided = error instanceof A2AError && error.code !== 'UNAVAILABLE';
      if (isDecided || clock.now() - knownAt >= UNKNOWN_MS) return end();
      return watch(clock.now() + RETRY_MS);
    }
    const { askAgainAt } = known;
    watch(askAgainAt === undefined ? undefined : Math.max(askAgainAt, clock.now() + LEAST_MS));
  };
  if (found.revoked?.aborted) end();
  else void ask();
  return () => {
    isOver = true;
    stop?.();
  };
}

/** True if a user is the same, and has lost no right: the call began with those of the first answer. */
function isStill(first: User, now: User): boolean {
  return now.id === first.id && !hasLost(first, now);
}

/** The rights that an answer about a credential gives. */
const RIGHTS = ['scopes', 'permissions', 'schemes', 'tenants'] as const;

/** True if a user lacks a right that the same user had before. */
function hasLost(before: User, now: User): boolean {
  if (now.needsTenantRule === true && before.needsTenantRule !== true) return true;
  // A missing list of tenants is no list of none: the rule decides in its place.
  if ((before.tenants === undefined) !== (now.tenants === undefined)) return true;
  return RIGHTS.some((right) => before[right]?.some((one) => now[right]?.includes(one) !== true));
}
