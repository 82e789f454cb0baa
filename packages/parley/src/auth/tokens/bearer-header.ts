import type { Authentication } from '../authenticator.js';

/** The answer for a refused token. */
export type Refusal = Extract<Authentication, { readonly kind: 'refused' }>;

const SCHEME = /^Bearer(?: |$)/i;
const PREFIX = 'Bearer ';
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * The token text of an `Authorization` header (RFC 6750 §2.1), or the refusal of the header. The length is checked
 * first. `isToken` checks the form of the text.
 */
export function presentedToken(header: string, maxTokenBytes: number): string | Authentication {
  if (header.length > maxTokenBytes + PREFIX.length) return invalidToken('the token is too long');
  if (header.startsWith(PREFIX)) return header.slice(PREFIX.length).trim();
  if (SCHEME.test(header)) return header.slice(PREFIX.length).trim();
  // Another scheme is not a wrong token, so the challenge has no error code (RFC 6750 §3.1).
  return { kind: 'refused', reason: 'another scheme' };
}

/** True if a text has the form of a token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The refusal of a token (RFC 6750 §3.1). The reason is for the log, and never part of the answer. */
export function invalidToken(reason: string): Refusal {
  return { kind: 'refused', reason, challenges: ['Bearer error="invalid_token"'] };
}

/** The refusal of a valid token that lacks scopes (RFC 6750 §3.1). `required` are all scopes that a call needs. */
export function insufficientScope(missing: readonly string[], required: readonly string[]): Refusal {
  return {
    kind: 'refused',
    reason: `the token lacks the scope ${missing.join(' ')}`,
    missingScopes: missing,
    challenges: [`Bearer error="insufficient_scope", scope="${required.join(' ')}"`],
  };
}
