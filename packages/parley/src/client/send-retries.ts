import { A2AError } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import { backoffMs } from './backoff.js';
import type { ClientRuntime } from './client-runtime.js';

/** How sends are tried again. */
export interface RetryOptions {
  /** Further attempts after the first; default 3, none with 0. */
  readonly attempts?: number;
  /** The first wait, which doubles each time; default 250 ms. */
  readonly firstMs?: number;
  /** The longest wait, also where the agent asks for a longer one, whose answer is then final; default 30 s. */
  readonly longestMs?: number;
  /**
   * True if a message that may have arrived is sent again although the agent does not promise to notice that. Where its
   * card declares the extension for it, that is done anyway.
   */
  readonly mayRepeat?: boolean;
}

/** Further attempts after the first, unless the caller says otherwise. */
export const ATTEMPTS = 3;

/** A send that failed. */
export interface FailedSend {
  readonly error: unknown;
  /** How often it was made, at least 1. */
  readonly attempts: number;
  /** Whether the agent answers a repeated message with the outcome of the first. */
  readonly isIdempotent: boolean;
}

/**
 * How long to wait before a message is sent again, in ms; undefined where it is not. It is where that is safe: nothing
 * of it was sent, or the agent asked to come back later (429 and 503 with Retry-After); where repeating is safe too,
 * after every failure on the way.
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
  if (error instanceof ConnectionError) return mayRepeat || !error.sent;
  if (!isTransient(error)) return false;
  return error.details.retryAfterMs !== undefined || (mayRepeat && error.code === 'UNAVAILABLE');
}

/** Whether the same call may fare better later. */
export function isTransient(error: unknown): error is A2AError {
  return error instanceof A2AError && (error.code === 'UNAVAILABLE' || error.code === 'RESOURCE_EXHAUSTED');
}
