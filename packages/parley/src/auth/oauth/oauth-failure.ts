import { CredentialsError } from '../../errors/credentials-error.js';

/** Codes of errors are words; what is none may be anything, a secret too. */
const WORD = /^[\w.-]{1,64}$/;

/** What the caller's own code threw, on its way through the requests. */
export class CallerFault extends Error {}

/** Runs the caller's own code, whose errors are its own. */
export async function callersOwn<T>(code: () => T | Promise<T>): Promise<T> {
  try {
    return await code();
  } catch (cause) {
    throw new CallerFault('The code of the caller failed', { cause });
  }
}

/**
 * What went wrong between client and authorization server, without anything that was sent or received but the code of the error and the
 * status: answers may repeat secrets. Reasons of signals are left as they are.
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
  const { name, code, status, error: said, message, cause } = partsOf(error);
  if (name === 'ResponseBodyError' || name === 'AuthorizationResponseError') {
    const word = wordOf(said) ?? 'an error';
    const isBusy = status === 429 || word === 'temporarily_unavailable' || word === 'server_error';
    return isBusy
      ? new CredentialsError('unavailable', `${issuer} gives no token now: ${word}`)
      : new CredentialsError('refused', `${issuer} refuses a token: ${word}`);
  }
  // The library's texts are fixed; what they are about is in the cause.
  if (wordOf(code)?.startsWith('OAUTH_') === true) {
    const answered = partsOf(cause).status;
    const about = typeof answered === 'number' ? ` (status ${answered})` : '';
    return new CredentialsError('unavailable', `${issuer} gives no usable answer: ${message}${about}`);
  }
  const reason = wordOf(partsOf(cause).code) ?? wordOf(code) ?? wordOf(name) ?? 'unknown';
  return new CredentialsError('unavailable', `${issuer} cannot be reached: ${reason}`);
}

/** The code of an answer of the authorization server that is an error. */
export function oauthErrorCode(error: unknown): string | undefined {
  const { name, error: said } = partsOf(error);
  return name === 'ResponseBodyError' ? wordOf(said) : undefined;
}

/** Whether asking again later makes sense: the authorization server was out of reach or in trouble. */
export function isPassing(error: unknown): boolean {
  const { name, code, cause } = partsOf(error);
  if (error instanceof CallerFault || name === 'ResponseBodyError') return false;
  const { status } = partsOf(cause);
  return typeof status === 'number' ? status >= 500 : wordOf(code)?.startsWith('OAUTH_') !== true;
}

function partsOf(value: unknown): Partial<Record<'name' | 'code' | 'status' | 'error' | 'message' | 'cause', unknown>> {
  return typeof value === 'object' && value !== null ? value : {};
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && WORD.test(value) ? value : undefined;
}
