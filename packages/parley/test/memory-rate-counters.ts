import type { RateAsk, RateGrant } from '../src/store/rate-counters.js';
import { LocalRates } from '../src/store/remote/local-rates.js';

/** Counters of rates that the processes of a test share. */
export class MemoryRateCounters extends LocalRates {
  calls = 0;
  state: 'works' | 'fails' | 'stalls' = 'works';

  override async take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]> {
    this.calls += 1;
    if (this.state === 'stalls') return new Promise(() => {});
    if (this.state === 'fails') throw new Error('The counters are away');
    return super.take(asks);
  }
}
