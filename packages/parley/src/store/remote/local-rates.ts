import type { Clock } from '../../runtime/clock.js';
import { blockOf, type RateAsk, type RateCounters, type RateGrant } from '../rate-counters.js';

/** Maximum number of windows. Above it, the oldest ones restart. */
const WINDOWS = 100_000;

/** Rate counters in the memory of one process, shared with others. */
export class LocalRates implements RateCounters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #windows = new Map<string, { taken: number; readonly ends: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]> {
    const now = this.#clock.monotonic();
    return asks.map(({ key, requests, windowMs, wanted }) => {
      let window = this.#windows.get(key);
      if (window === undefined || window.ends <= now) {
        window = { taken: 0, ends: now + windowMs };
        this.#windows.delete(key);
        this.#windows.set(key, window);
        this.#trim();
      }
      const granted = blockOf(requests - window.taken, wanted);
      window.taken += granted;
      return { granted, left: requests - window.taken, endsInMs: window.ends - now };
    });
  }

  #trim(): void {
    if (this.#windows.size <= WINDOWS) return;
    for (const oldest of this.#windows.keys()) {
      this.#windows.delete(oldest);
      return;
    }
  }
}
