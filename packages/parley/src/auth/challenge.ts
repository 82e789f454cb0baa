import type { A2AError } from '../errors/a2a-error.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';

/** The header that tells a client how to authenticate. */
export const CHALLENGE_HEADER = 'WWW-Authenticate';

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The response headers that tell a refused caller how to authenticate (Spec §3.3.2). They have the challenges of the
 * error. If the caller is unknown, they have the usual ones of the authenticator. Empty for any other error.
 */
export function challengeHeaders(error: A2AError, usual: readonly string[] = []): Readonly<Record<string, string>> {
  const own = error instanceof UnauthenticatedError || error instanceof PermissionDeniedError ? error.challenges : [];
  const challenges = own.length > 0 || error.code !== 'UNAUTHENTICATED' ? own : usual;
  return challenges.length > 0 ? { 'www-authenticate': challenges.join(', ') } : NO_HEADERS;
}

/** The challenges of an answer that a client received, one text for each header line. */
export function receivedChallenges(headers: { get(name: string): string | null }): readonly string[] {
  const challenge = headers.get('www-authenticate');
  return challenge === null ? [] : [challenge];
}
