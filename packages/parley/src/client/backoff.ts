import type { A2AError } from '../errors/a2a-error.js';
import type { Clock } from '../runtime/clock.js';
import type { ClientRuntime } from './client-runtime.js';

/** Waits between attempts. */
interface BackoffOptions {
  /** Wait before the second attempt, in ms. */
  readonly firstMs: number;
  /** Longest wait, in ms. */
  readonly longestMs: number;
  /** Factor between two waits. */
  readonly factor: number;
}

/**
 * Returns the wait before attempt `number + 1` in ms, with 50 % jitter. Jitter spreads clients that failed together.
 */
export function backoffMs(number: number, options: BackoffOptions, random: ClientRuntime['random']): number {
  const { firstMs, longestMs, factor } = options;
  const whole = Math.min(longestMs, firstMs * factor ** Math.min(number - 1, 40));
  return whole / 2 + (whole / 2) * random();
}

/** Default for the longest `Retry-After` that the client obeys, in ms. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * Returns the wait after an error in ms: the client's own, or the agent's `Retry-After` up to a limit if it is longer.
 */
export function waitAfter({ details: { retryAfterMs = 0 } }: A2AError, ownMs: number, longestMs: number): number {
  const asked = retryAfterMs > 0 ? Math.min(retryAfterMs, longestMs) : 0;
  return Math.round(Math.max(ownMs, asked));
}

/** Resolves after a time in ms. Rejects with the reason of the signal once it aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      stop();
      reject(signal?.reason);
    };
    const stop = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
