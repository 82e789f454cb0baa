import { failureLevel } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { RateCounters } from '../../store/rate-counters.js';
import type { Logger } from '../../telemetry/logger.js';
import { askCounters } from './ask-counters.js';
import { RecentWindows } from './recent-windows.js';

/** The options of the tokens of a day. */
interface DayTokensOptions {
  /** Most tokens of a key within a day. */
  readonly limit: number;
  /** Counters that several processes share. Absent: the memory of this process counts. */
  readonly counters: RateCounters | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The share of this process in the day of one key. */
interface Share {
  /** Tokens that this process may still use. */
  tokens: number;
  /** Tokens that were left for all processes at the last answer. */
  left: number;
}

const DAY_MS = 86_400_000;
const KEYS = 100_000;

/**
 * Counts the tokens of each key within a day of UTC. All processes on a storage share the counters of rates: a process
 * takes blocks of a day, and counts within them. A process that dies loses the rest of its block, so that a day never
 * has more tokens than its limit. While the counters cannot be reached, each process counts by itself.
 */
export class DayTokens {
  readonly #options: DayTokensOptions;
  readonly #shares: RecentWindows<Share>;
  #isAlone = false;

  constructor(options: DayTokensOptions) {
    this.#options = options;
    this.#shares = new RecentWindows({ clock: options.clock, keys: KEYS });
  }

  /** Counts tokens that a call has used. Returns the rest of the day, which is negative if the call used more. */
  async spend(key: string, tokens: number): Promise<number> {
    const { day, share } = this.#of(key);
    const missing = tokens - share.tokens;
    share.tokens = Math.max(0, -missing);
    if (missing <= 0) return share.tokens + share.left;
    const granted = await this.#take(day, share, missing);
    if (granted < missing) return granted - missing;
    share.tokens += granted - missing;
    return share.tokens + share.left;
  }

  /** The rest of the day. */
  async rest(key: string): Promise<number> {
    const { day, share } = this.#of(key);
    if (share.tokens === 0 && share.left > 0) share.tokens += await this.#take(day, share, 1);
    return share.tokens + share.left;
  }

  #of(key: string): { readonly day: string; readonly share: Share } {
    const { clock, counters, limit } = this.#options;
    const day = `tokens|${new Date(clock.now()).toISOString().slice(0, 10)}|${limit}|${key}`;
    const made = { windowMs: DAY_MS, now: clock.monotonic() };
    const isShared = counters !== undefined;
    return {
      day,
      share: this.#shares.of(day, made, () => ({ tokens: isShared ? 0 : limit, left: isShared ? limit : 0 })),
    };
  }

  /** Takes a block. Returns the tokens that this process got. */
  async #take(day: string, share: Share, wanted: number): Promise<number> {
    const { counters, clock, limit, logger } = this.#options;
    if (counters === undefined) return 0;
    try {
      const ask = { key: day, requests: limit, windowMs: DAY_MS, wanted: Math.min(wanted, limit) };
      const [grant] = await askCounters([ask], { counters, clock });
      if (this.#isAlone) logger.info('budgets of tokens are shared by all processes again');
      this.#isAlone = false;
      share.left = grant?.left ?? 0;
      return grant?.granted ?? 0;
    } catch (error) {
      if (!this.#isAlone)
        logger[failureLevel(error)]('the counters of tokens failed, this process counts by itself', { error });
      this.#isAlone = true;
      const granted = Math.min(share.left, wanted);
      share.left -= granted;
      return granted;
    }
  }
}
