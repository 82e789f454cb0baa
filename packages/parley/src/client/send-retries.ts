import { A2AError } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import { backoffMs, pause } from './backoff.js';
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
   * Whether a message that may have arrived is sent again although the agent does not promise to notice that. Where its card declares the
   * extension for it, that is done anyway.
   */
  readonly mayRepeat?: boolean;
}

/** What a send is tried again by. */
export interface SendRetryParts<T> {
  readonly attempt: () => Promise<T>;
  readonly options: RetryOptions;
  /** Whether the agent answers a repeated message with the outcome of the first. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignal | undefined;
  readonly runtime: ClientRuntime;
}

/**
 * Sends a message, and again where that is safe: nothing of it was sent, or the agent asked to come back later (429 and 503 with
 * Retry-After). Where repeating is safe too, after every failure on the way. Nothing else is tried again.
 */
export async function withRetries<T>({
  attempt,
  options,
  isIdempotent,
  signal,
  runtime,
}: SendRetryParts<T>): Promise<T> {
  const { attempts = 3, firstMs = 250, longestMs = 30_000, mayRepeat = isIdempotent } = options;
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      if (number > attempts || !(error instanceof A2AError)) throw error;
      const asked = error.details.retryAfterMs;
      if (!isPassing(error, mayRepeat) || (asked !== undefined && asked > longestMs)) throw error;
      const ms = Math.max(asked ?? 0, backoffMs(number, { firstMs, longestMs, factor: 2 }, runtime.random));
      runtime.logger.info('sending again', { attempt: number + 1, afterMs: Math.round(ms), code: error.code });
      await pause(runtime.clock, ms, signal);
    }
  }
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
