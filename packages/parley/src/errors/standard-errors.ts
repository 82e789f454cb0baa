import { A2AError, type FieldViolation } from './a2a-error.js';

/** Members of the request are missing or invalid. The error names each of them, and the limit that they pass. */
export class InvalidParamsError extends A2AError {
  override readonly name = 'InvalidParamsError';
  constructor(violations: readonly FieldViolation[], limit?: string) {
    // The details have all of them.
    const named = violations.slice(0, 3).map(({ field, description }) => `${field} ${description}`);
    super('INVALID_PARAMS', `Invalid parameters: ${named.join('; ')}`, {
      violations,
      ...(limit && { metadata: { limit } }),
    });
  }
}

/** The error for a parameter that a request names more than once, in one spelling or in two. */
export function repeatedFieldError(field: string): InvalidParamsError {
  return new InvalidParamsError([{ field: field.slice(0, 100), description: 'is given twice' }]);
}

/** The message for credentials that are wrong, malformed or expired. Missing credentials have the default message. */
export const NOT_ACCEPTED = 'The credentials are not accepted: they are wrong or have expired';

/** The request has no valid credentials. */
export class UnauthenticatedError extends A2AError {
  override readonly name = 'UnauthenticatedError';
  /** HTTP challenges that a client can answer, such as `Bearer`. */
  readonly challenges: readonly string[];
  constructor(challenges: readonly string[], message = 'Authentication is required') {
    super('UNAUTHENTICATED', message);
    this.challenges = challenges;
  }
}

/** The caller is known and has no permission. */
export class PermissionDeniedError extends A2AError {
  override readonly name = 'PermissionDeniedError';
  /** HTTP challenges that would help, such as `Bearer error="insufficient_scope", scope="write"` (RFC 6750 §3.1). */
  readonly challenges: readonly string[];
  constructor(message: string, challenges: readonly string[] = []) {
    super('PERMISSION_DENIED', message);
    this.challenges = challenges;
  }
}

/** The server failed. The cause goes to the log only. */
export class InternalError extends A2AError {
  override readonly name = 'InternalError';
  constructor(options?: ErrorOptions) {
    super('INTERNAL_ERROR', 'Internal error', {}, options);
  }
}

/** The error of a request whose free values have more than `levels` levels. `field` is the value, if it is known. */
export function tooDeep(levels: number, field = 'The JSON'): A2AError {
  const message = `${field} is nested deeper than ${levels} levels`;
  return new A2AError('INVALID_REQUEST', message, { metadata: { limit: 'jsonDepth' } });
}

/** The error of a request with more than `items` members and elements. */
export function tooManyItems(items: number): A2AError {
  const message = `The request has more than ${items} members and elements, the limit jsonItems`;
  return new A2AError('INVALID_REQUEST', message, { metadata: { limit: 'jsonItems' } });
}
