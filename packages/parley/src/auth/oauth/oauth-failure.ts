import { A2AError } from '../../errors/a2a-error.js';
import { CredentialsError } from '../../errors/credentials-error.js';

/** Error codes are words. Any other text may be a secret. */
const WORD = /^[\w.-]{1,64}$/;

/** An error code of `oauth4webapi`. Its class names change in minified bundles. */
const ERROR_IN_BODY = 'OAUTH_RESPONSE_BODY_ERROR';
const ERROR_IN_RETURN = 'OAUTH_AUTHORIZATION_RESPONSE_ERROR';

/** An error of the caller's own code, on its way through the requests. */
class CallerFault extends Error {}

/** Runs code of the caller. Its errors pass through unchanged. */
export async function callersOwn<T>(code: () => T | Promise<T>): Promise<T> {
  try {
    return await code();
  } catch (cause) {
    throw new CallerFault('The code of the caller failed', { cause });
  }
}

/**
 * The error for a failed request to an authorization server. It has only the code and the status of the answer, because
 * answers may repeat secrets. Reasons of signals pass through unchanged.
 */
export function oauthFailure({
  issuer,
  error,
  signal,
}: {
  readonly issuer: string;
  readonly error: unknown;
  readonly signal: AbortSignal;
}): unknown {
  if (error instanceof CallerFault) return error.cause;
  if (signal.aborted || error instanceof CredentialsError) return error;
  // The destination of the request was refused.
  if (error instanceof A2AError) return new CredentialsError('missing', error.message);
  const { name, code, status, error: said, message, cause } = partsOf(error);
  if (code === ERROR_IN_BODY || code === ERROR_IN_RETURN) {
    const word = wordOf(said) ?? 'an error';
    const isBusy = status === 429 || word === 'temporarily_unavailable' || word === 'server_error';
    return isBusy
      ? new CredentialsError('unavailable', `${issuer} cannot issue a token now: ${word}`)
      : new CredentialsError('refused', `${issuer} refuses a token: ${word}`);
  }
  // The texts of the library are fixed; the cause has the particulars.
  if (wordOf(code)?.startsWith('OAUTH_') === true) {
    const answered = partsOf(cause).status;
    const about = typeof answered === 'number' ? ` (status ${answered})` : '';
    return new CredentialsError('unavailable', `${issuer} gives no usable answer: ${message}${about}`);
  }
  const reason = wordOf(partsOf(cause).code) ?? wordOf(code) ?? wordOf(name) ?? 'unknown';
  return new CredentialsError('unavailable', `${issuer} cannot be reached: ${reason}`);
}

/** The error code of an answer of the authorization server. */
export function oauthErrorCode(error: unknown): string | undefined {
  const { code, error: said } = partsOf(error);
  return code === ERROR_IN_BODY ? wordOf(said) : undefined;
}

/** True if a later retry makes sense: the authorization server was unreachable or overloaded. */
export function isPassing(error: unknown): boolean {
  const { code, cause } = partsOf(error);
  if (error instanceof CallerFault || error instanceof A2AError || code === ERROR_IN_BODY) return false;
  const { status } = partsOf(cause);
  return typeof status === 'number' ? status >= 500 : wordOf(code)?.startsWith('OAUTH_') !== true;
}

function partsOf(value: unknown): Partial<Record<'name' | 'code' | 'status' | 'error' | 'message' | 'cause', unknown>> {
  return typeof value === 'object' && value !== null ? value : {};
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && WORD.test(value) ? value : undefined;
}
