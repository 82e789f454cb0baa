import type { Clock } from '../../runtime/clock.js';
import type { RateAsk, RateCounters, RateGrant } from '../../store/rate-counters.js';

/** The longest wait of a caller for the shared counters. After it this process counts by itself. */
export const PATIENCE_MS = 250;

/**
 * Asks the counters that processes share.
 * @throws Error if they fail, or do not answer in time.
 */
export async function askCounters(
  asks: readonly RateAsk[],
  { counters, clock }: { readonly counters: RateCounters; readonly clock: Clock },
): Promise<readonly RateGrant[]> {
  let stopTimer = () => {};
  const late = new Promise<never>((_, reject) => {
    stopTimer = clock.after(PATIENCE_MS, () => reject(new Error('The counters do not answer')));
  });
  try {
    return await Promise.race([counters.take(asks), late]);
  } finally {
    stopTimer();
  }
}
