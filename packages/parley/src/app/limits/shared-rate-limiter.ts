import { failureLevel } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { RateAsk, RateCounters, RateGrant } from '../../store/rate-counters.js';
import type { Logger } from '../../telemetry/logger.js';
import { askCounters, PATIENCE_MS } from './ask-counters.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import type { Rate, RateDecision, RateLimiter } from './rate-limiter.js';
import { RecentWindows } from './recent-windows.js';

/** The options of a shared limiter. */
interface SharedRateLimiterOptions {
  readonly counters: RateCounters;
  readonly clock: Clock;
  /** Most keys in memory. */
  readonly keys: number;
  readonly logger: Logger;
}

/** The share of this process in the window of one key. */
interface Share {
  /** Requests that this process may still serve. */
  tokens: number;
  /** Requests that were left for all processes at the last answer. */
  left: number;
  /** By the monotonic clock. */
  endsAt: number;
}

/** Requests of one key that wait for a block. */
interface Waiting {
  readonly key: string;
  readonly rate: Rate;
  readonly share: Share;
  /** The time of the first of these requests, by the monotonic clock. */
  since: number;
  readonly callers: ((decision: RateDecision) => void)[];
}

/** Counters that failed are asked again after this time. */
const AWAY_MS = 1_000;
const ASKS_AT_ONCE = 500;
/** The most keys that wait for the counters. This process counts further keys by itself. */
const MOST_WAITING = 5_000;

/**
 * Counts requests of all processes on a storage. One round trip for each request would cost the storage as much as the
 * requests themselves. So a process takes blocks of a window and counts within them. All processes together never allow
 * more than the rate. A refused caller costs no round trip before its window ends.
 *
 * While the counters cannot be reached, each process allows the whole rate by itself, and no request waits.
 */
export class SharedRateLimiter implements RateLimiter {
  readonly #options: SharedRateLimiterOptions;
  readonly #shares: RecentWindows<Share>;
  readonly #alone: MemoryRateLimiter;
  readonly #waiting = new Map<string, Waiting>();
  /** The time for the next try, by the monotonic clock, while the counters cannot be reached. */
  #awayUntil: number | undefined;
  #isAsking = false;

  constructor(options: SharedRateLimiterOptions) {
    this.#options = options;
    this.#shares = new RecentWindows(options);
    this.#alone = new MemoryRateLimiter(options);
  }

  take(key: string, rate: Rate): RateDecision | Promise<RateDecision> {
    const now = this.#options.clock.monotonic();
    const share = this.#shares.of(key, { windowMs: rate.windowMs, now }, newShare);
    if (now < share.endsAt && (share.tokens > 0 || share.left === 0)) return decide(share, now);
    if (this.#awayUntil !== undefined) {
      // This request does not wait for the answer. One key is enough to hear if the counters answer again.
      if (now >= this.#awayUntil && !this.#isAsking) this.#waitingFor(key, rate, share);
      return this.#alone.take(key, rate);
    }
    if (this.#waiting.size >= MOST_WAITING) return this.#alone.take(key, rate);
    const waiting = this.#waitingFor(key, rate, share);
    if (waiting.callers.length === 0) waiting.since = now;
    return new Promise((resolve) => void waiting.callers.push(resolve));
  }

  #waitingFor(key: string, rate: Rate, share: Share): Waiting {
    let waiting = this.#waiting.get(key);
    if (waiting === undefined) {
      waiting = { key, rate, share, since: this.#options.clock.monotonic(), callers: [] };
      this.#waiting.set(key, waiting);
    }
    if (!this.#isAsking) this.#askSoon();
    return waiting;
  }

  /** One call is under way at a time. Callers that come meanwhile share the next one. */
  #askSoon(): void {
    this.#isAsking = true;
    this.#options.clock.soon(() => {
      const asked = [...this.#waiting.values()].slice(0, ASKS_AT_ONCE);
      for (const { key } of asked) this.#waiting.delete(key);
      void this.#ask(asked).then(() => {
        if (this.#waiting.size > 0) this.#askSoon();
        else this.#isAsking = false;
      });
    });
  }

  async #ask(asked: readonly Waiting[]): Promise<void> {
    const { counters, clock, logger } = this.#options;
    const sentAt = clock.monotonic();
    const stopRelief = this.#relieveCallers(asked);
    try {
      const grants = await askCounters(asked.map(askOf), { counters, clock });
      if (this.#awayUntil !== undefined) logger.info('rates are shared by all processes again');
      this.#awayUntil = undefined;
      for (const [at, waiting] of asked.entries()) this.#granted(waiting, grants[at], sentAt);
    } catch (error) {
      if (this.#awayUntil === undefined)
        logger[failureLevel(error)]('the counters of rates failed, this process limits by itself', { error });
      this.#awayUntil = clock.monotonic() + AWAY_MS;
      // Keys that wait for the next call would only wait for longer.
      for (const waiting of [...asked, ...this.#waiting.values()]) this.#answerAlone(waiting);
      this.#waiting.clear();
    } finally {
      stopRelief();
    }
  }

  /** Answers callers whose longest wait ends while a call is under way. Returns the function that stops that. */
  #relieveCallers(asked: readonly Waiting[]): () => void {
    const { clock } = this.#options;
    const look = () => {
      const now = clock.monotonic();
      // Requests that come from now on wait for at least so long.
      let next = now + PATIENCE_MS;
      for (const waiting of [...asked, ...this.#waiting.values()]) {
        const overdueAt = waiting.since + PATIENCE_MS;
        if (overdueAt <= now) this.#answerAlone(waiting);
        else if (waiting.callers.length > 0) next = Math.min(next, overdueAt);
      }
      stop = clock.after(next - now, look);
    };
    let stop = () => {};
    look();
    return () => stop();
  }

  #answerAlone({ callers, key, rate }: Waiting): void {
    for (const answer of callers.splice(0)) answer(this.#alone.take(key, rate));
  }

  #granted({ share, callers }: Waiting, grant: RateGrant | undefined, sentAt: number): void {
    const { granted = 0, left = 0, endsInMs = 0 } = grant ?? {};
    const now = this.#options.clock.monotonic();
    const isOver = now >= share.endsAt;
    share.tokens = (isOver ? 0 : share.tokens) + granted;
    share.left = left;
    // An earlier end costs one more question at most.
    share.endsAt = sentAt + endsInMs;
    for (const answer of callers) answer(decide(share, now));
  }
}

/** Takes a request from a share. */
function decide(share: Share, now: number): RateDecision {
  const allowed = share.tokens > 0;
  if (allowed) share.tokens -= 1;
  return { allowed, remaining: share.tokens + share.left, resetMs: Math.max(0, share.endsAt - now) };
}

function askOf({ key, rate: { requests, windowMs }, callers }: Waiting): RateAsk {
  // Another rate for the same key is another window.
  return { key: `${key}|${requests}/${windowMs}`, requests, windowMs, wanted: callers.length };
}

function newShare(): Share {
  return { tokens: 0, left: 1, endsAt: 0 };
}
