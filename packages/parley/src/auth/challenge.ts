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

/** The same challenges, with the place of the metadata of the resource in each Bearer challenge (RFC 9728 §5.1). */
export function challengesWithMetadata(challenges: readonly string[], url: string): readonly string[] {
  return challenges.map((challenge) => {
    if (!/^Bearer(?: |$)/i.test(challenge) || challenge.includes('resource_metadata=')) return challenge;
    return `${challenge}${challenge.includes(' ') ? ', ' : ' '}resource_metadata="${url}"`;
  });
}

/** The same error, with the place of the metadata of the resource in its Bearer challenges. */
export function refusalWithMetadata(error: A2AError, url: string): A2AError {
  if (error instanceof UnauthenticatedError)
    return new UnauthenticatedError(challengesWithMetadata(error.challenges, url), error.message);
  return error instanceof PermissionDeniedError
    ? new PermissionDeniedError(error.message, challengesWithMetadata(error.challenges, url))
    : error;
}

/** The challenges of an answer that a client received, one text for each header line. */
export function receivedChallenges(headers: { get(name: string): string | null }): readonly string[] {
  const challenge = headers.get('www-authenticate');
  return challenge === null ? [] : [challenge];
}
