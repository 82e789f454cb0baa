import type { ErrorCode } from 'parley-a2a';
import { isErrorCode, readDetails, receivedError } from 'parley-a2a/binding-kit';
import { A2AError, ConnectionError, isObject } from 'parley-a2a/kit';

/** The end of a session: the code and the reason of its close frame. */
export interface SessionEnd {
  readonly code: number;
  readonly reason: string;
}

/** Reasons that are no codes of the protocol. */
const OTHER_REASONS: Readonly<Record<string, ErrorCode>> = { DEADLINE_EXCEEDED: 'UNAVAILABLE' };

/** The longest time of a timer: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The error of a call that a peer rejected. An error without a reason is from the library, or from a peer without A2A
 * errors.
 */
export function rejectedError(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  const { reason, message, details: list, retryAfterMs, challenges } = isObject(error) ? error : {};
  const said = readDetails(list);
  const code = isErrorCode(reason) ? reason : (OTHER_REASONS[String(reason)] ?? said.code ?? 'INTERNAL_ERROR');
  const isWait = typeof retryAfterMs === 'number' && retryAfterMs >= 0;
  return receivedError({
    code,
    message: typeof message === 'string' && message !== '' ? message : `The agent answered ${code}`,
    details: isWait ? { ...said.details, retryAfterMs: Math.min(retryAfterMs, LONGEST_MS) } : said.details,
    challenges: Array.isArray(challenges) ? challenges.filter((item) => typeof item === 'string') : [],
    cause: error,
  });
}

/** True if the agent sent the error; false if its connection ended. */
export function isAnswered(error: unknown): boolean {
  return isObject(error) && typeof error.reason === 'string';
}

const ENDS: Readonly<Record<number, string>> = {
  1000: 'the agent closed it',
  1001: 'the agent goes away',
  1006: 'the connection was lost',
  1008: 'the agent found a rule broken',
  1009: 'a message was too long',
  1012: 'the agent restarts',
  4401: 'the credential has ended',
  4408: 'the agent waited too long for a credential',
};

/** The error of calls and streams whose session ended. Part of the call may have been sent. */
export function endedError({ code, reason }: SessionEnd): ConnectionError {
  const said = reason === '' ? '' : `: ${reason}`;
  return new ConnectionError(`The session ended, because ${ENDS[code] ?? `of code ${code}`}${said}`, { sent: true });
}
