import type { Clock } from '../src/runtime/clock.js';
import { blockOf, type RateAsk, type RateCounters, type RateGrant } from '../src/store/rate-counters.js';

/** Counters of rates that the processes of a test share. */
export class MemoryRateCounters implements RateCounters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #windows = new Map<string, { taken: number; readonly ends: number }>();
  calls = 0;
  state: 'works' | 'fails' | 'stalls' = 'works';

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]> {
    this.calls += 1;
    if (this.state === 'stalls') return new Promise(() => {});
    if (this.state === 'fails') throw new Error('The counters are away');
    return asks.map((ask) => this.#take(ask));
  }

  #take({ key, requests, windowMs, wanted }: RateAsk): RateGrant {
    const now = this.#clock.monotonic();
    let window = this.#windows.get(key);
    if (window === undefined || window.ends <= now) {
      window = { taken: 0, ends: now + windowMs };
      this.#windows.set(key, window);
    }
    const granted = blockOf(requests - window.taken, wanted);
    window.taken += granted;
    return { granted, left: requests - window.taken, endsInMs: window.ends - now };
  }
}
