import { A2AError } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import { backoffMs } from './backoff.js';
import type { ClientRuntime } from './client-runtime.js';

/** Options for retrying messages. */
export interface RetryOptions {
  /** Further attempts after the first. Default 3; 0 turns retries off. */
  readonly attempts?: number;
  /** First wait in ms; it doubles with each attempt. Default 250. */
  readonly firstMs?: number;
  /** Longest wait in ms. If the agent asks for a longer one, the client does not retry. Default 30,000. */
  readonly longestMs?: number;
  /**
   * True if the client may repeat a message that may have arrived, although the agent does not declare the extension
   * for idempotent sends.
   */
  readonly mayRepeat?: boolean;
}

/** Default number of further attempts. */
export const ATTEMPTS = 3;

/** A send that failed. */
interface FailedSend {
  readonly error: unknown;
  /** Number of attempts so far, at least 1. */
  readonly attempts: number;
  /** True if the agent answers a repeated message with the outcome of the first. */
  readonly isIdempotent: boolean;
}

/**
 * Returns the wait before a message is repeated in ms; undefined if it must not be. A retry is safe if no byte was
 * sent, or if the agent asked for it (429 and 503 with Retry-After). If repeating is safe, the client also retries
 * after lost connections.
 */
export function waitBeforeResend(
  { error, attempts, isIdempotent }: FailedSend,
  { attempts: further = ATTEMPTS, firstMs = 250, longestMs = 30_000, mayRepeat = isIdempotent }: RetryOptions,
  random: ClientRuntime['random'],
): number | undefined {
  if (attempts > further || !(error instanceof A2AError) || !isPassing(error, mayRepeat)) return undefined;
  const asked = error.details.retryAfterMs ?? 0;
  if (asked > longestMs) return undefined;
  return Math.max(asked, backoffMs(attempts, { firstMs, longestMs, factor: 2 }, random));
}

function isPassing(error: A2AError, mayRepeat: boolean): boolean {
  if (!isTransient(error)) return false;
  if (error instanceof ConnectionError) return mayRepeat || !error.sent;
  return error.details.retryAfterMs !== undefined || (mayRepeat && error.code === 'UNAVAILABLE');
}

/** True if the same call may succeed later. */
export function isTransient(error: unknown): error is A2AError {
  if (error instanceof ConnectionError && error.isFinal) return false;
  return error instanceof A2AError && (error.code === 'UNAVAILABLE' || error.code === 'RESOURCE_EXHAUSTED');
}
