import { backoffMs, LONGEST_RETRY_AFTER_MS, pause, waitAfter } from '../client/backoff.js';
import type { ConnectionEvent } from '../client/connection-event.js';
import { isTransient } from '../client/send-retries.js';
import type { ResumeOptions } from '../client/task-stream.js';
import { refusedAddressIn } from '../errors/refused-address-error.js';
import type { Clock } from '../runtime/clock.js';

/** The retries to reach a callee, and the pauses between them. */
export type Patience = Required<Omit<ResumeOptions, 'silenceMs'>>;

/** The ports of `patiently`. */
interface PatienceOptions {
  readonly patience: Patience;
  readonly clock: Clock;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called before each pause. */
  readonly interrupted: (event: ConnectionEvent & { readonly state: 'interrupted' }) => void;
}

/** The defaults for a caller without options. Together the pauses take about 40 s. */
export function patienceOf(options: ResumeOptions): Patience {
  const { attempts = 10, firstMs = 250, longestMs = 10_000, longestRetryAfterMs = LONGEST_RETRY_AFTER_MS } = options;
  return { attempts, firstMs, longestMs, longestRetryAfterMs };
}

/**
 * Makes a call that only reads. While the callee cannot be reached, retries after growing pauses.
 * @throws the error of the last attempt, or the reason of the signal.
 */
export async function patiently<T>(call: () => Promise<T>, options: PatienceOptions): Promise<T> {
  const { patience, clock, random, signal, interrupted } = options;
  const { attempts, longestRetryAfterMs } = patience;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || attempt > attempts || refusedAddressIn(error) !== undefined) throw error;
      const waitMs = waitAfter(error, backoffMs(attempt, { ...patience, factor: 2 }, random), longestRetryAfterMs);
      interrupted({ state: 'interrupted', taskId: undefined, attempt, attempts, waitMs, error });
      await pause(clock, waitMs, signal);
    }
  }
}
