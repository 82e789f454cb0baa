import type { A2AError } from '../errors/a2a-error.js';
import type { Clock } from '../runtime/clock.js';
import type { ClientRuntime } from './client-runtime.js';

/** How long to wait from one attempt to the next. */
export interface BackoffOptions {
  /** Before the second attempt. */
  readonly firstMs: number;
  /** No wait is longer. */
  readonly longestMs: number;
  /** How much longer each wait is than the one before. */
  readonly factor: number;
}

/** The wait before attempt `number + 1`, half of it by chance, so that clients which failed together do not return together. */
export function backoffMs(number: number, options: BackoffOptions, random: ClientRuntime['random']): number {
  const { firstMs, longestMs, factor } = options;
  const whole = Math.min(longestMs, firstMs * factor ** Math.min(number - 1, 40));
  return whole / 2 + (whole / 2) * random();
}

/** The longest `Retry-After` of an agent that is waited for, unless the caller says otherwise. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * The wait before the next attempt after an error: the client's own, or longer where the agent asks for that, up to a
 * limit.
 */
export function waitAfter({ details: { retryAfterMs = 0 } }: A2AError, ownMs: number, longestMs: number): number {
  const asked = retryAfterMs > 0 ? Math.min(retryAfterMs, longestMs) : 0;
  return Math.round(Math.max(ownMs, asked));
}

/** Resolves after a time; rejects with the signal's reason as soon as that is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const aborted = (): void => {
      stop();
      reject(signal?.reason);
    };
    const stop = clock.after(ms, () => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
