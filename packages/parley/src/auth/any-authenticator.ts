import { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from './authenticator.js';

/**
 * Combines authenticators for endpoints that no card describes. It accepts each credential that one of them accepts,
 * and is optional if all of them are. A refusal has the challenges of all. `anyOf` also merges the card entries, which
 * takes more code than a small server should load.
 */
export function anyAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  const [first] = authenticators;
  if (first !== undefined && authenticators.length === 1) return first;
  return {
    challenges: [...new Set(authenticators.flatMap(({ challenges }) => challenges))],
    optional: authenticators.every(({ optional }) => optional === true),
    authenticate: (credentials) => firstUser(authenticators, credentials),
  };
}

/** A user wins over an error, an error over a refusal, and a refusal over an anonymous caller. */
async function firstUser(authenticators: readonly Authenticator[], credentials: Credentials): Promise<Authentication> {
  let refusal: Authentication = ANONYMOUS;
  const errors: unknown[] = [];
  for (const authenticator of authenticators) {
    try {
      const found = await authenticator.authenticate(credentials);
      if (found.kind === 'user') return found;
      if (found.kind === 'refused') refusal = { kind: 'refused', reason: found.reason };
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return refusal;
}
