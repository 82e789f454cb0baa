import { addressKeyOf } from '../../auth/user.js';
import type { RefusedRequest } from '../../bindings/http/answer-call.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { type ClientGroups, UNKNOWN_CLIENTS } from '../../net/client-address.js';
import type { Clock } from '../../runtime/clock.js';
import { keptResults } from '../../runtime/kept-results.js';
import type { RateCounters } from '../../store/rate-counters.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { DEFAULT_RATE_KEYS, type RateLimitOptions, ratesOf } from './rate-limit-options.js';
import type { Rate, RateLimiter } from './rate-limiter.js';
import { SharedRateLimiter } from './shared-rate-limiter.js';
import { type FoundRate, withRate } from './with-rate.js';

/** An agent that may have a rate of its own. */
export interface RatedAgent {
  readonly id: string;
  /** The rate of each principal, in the place of that of the host; `undefined` for that of the host. */
  readonly ratePerPrincipal: Rate | false | undefined;
}

/** The rates of a host, and its ports. */
interface RateLimitsOptions {
  /** Absent: only agents have rates. */
  readonly options: RateLimitOptions | undefined;
  readonly groupOf: ClientGroups;
  readonly reached: (limit: ReachedLimit) => void;
  /** The counters of the storage, if several processes share it. */
  readonly counters: RateCounters | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The form of a refusal, by the binding that a request is for. */
export type RefusalOf = (
  request: ExchangeRequest,
) => (refused: RefusedRequest) => ExchangeResponse | Promise<ExchangeResponse>;

/** Keys that are kept for one limit: V8 hashes a known text faster than one that is put together anew. */
const MOST_KEYS = 1_000;

/** Limits the rates of requests: by address before any credential is checked, by principal after it. */
export class RateLimits {
  readonly #options: RateLimitsOptions;
  readonly #limiter: RateLimiter;
  readonly #perAddress: Rate | undefined;
  readonly #perPrincipal: Rate | undefined;

  constructor(options: RateLimitsOptions) {
    const { limiter, keys = DEFAULT_RATE_KEYS } = options.options ?? {};
    const { perAddress, perPrincipal } = ratesOf(options.options ?? {});
    this.#options = options;
    this.#limiter = limiter ?? builtInLimiter({ ...options, keys });
    this.#perAddress = perAddress;
    this.#perPrincipal = perPrincipal;
  }

  /** The exchange with the rate of each address. */
  byAddress(next: Exchange, refusalOf: RefusalOf): Exchange {
    const rate = this.#perAddress;
    if (rate === undefined) return next;
    const { groupOf } = this.#options;
    const keyOf = keptResults((group) => `address|${group}`, MOST_KEYS);
    return this.#limited(next, {
      limit: 'address',
      refusalOf,
      ruleOf: (request) => ({ key: keyOf(groupOf(request) ?? UNKNOWN_CLIENTS), rate }),
    });
  }

  /** The exchange with the rate of each principal: a user, or the address of an anonymous caller. */
  byPrincipal(next: Exchange, refusalOf: RefusalOf, agent?: RatedAgent): Exchange {
    const own = agent?.ratePerPrincipal;
    const rate = own ?? this.#perPrincipal;
    if (rate === undefined || rate === false) return next;
    const { groupOf } = this.#options;
    const prefix = own === undefined ? 'principal||' : `principal|${agent?.id}|`;
    const keyOf = keptResults((principal) => `${prefix}${principal}`, MOST_KEYS);
    return this.#limited(next, {
      limit: 'principal',
      refusalOf,
      ruleOf: (request) => {
        const principal = request.user?.id ?? addressKeyOf(groupOf(request) ?? UNKNOWN_CLIENTS);
        return { key: keyOf(principal), rate };
      },
    });
  }

  #limited(
    next: Exchange,
    {
      limit,
      ruleOf,
      refusalOf,
    }: {
      readonly limit: 'address' | 'principal';
      readonly ruleOf: (request: ExchangeRequest) => FoundRate | undefined;
      readonly refusalOf: RefusalOf;
    },
  ): Exchange {
    const { reached, logger } = this.#options;
    return withRate(next, { limit, limiter: this.#limiter, ruleOf, refusalOf, reached, logger });
  }
}

/** Counts with all processes on the storage, or in memory. */
function builtInLimiter({
  counters,
  clock,
  keys,
  logger,
}: Pick<RateLimitsOptions, 'counters' | 'clock' | 'logger'> & { readonly keys: number }): RateLimiter {
  return counters === undefined
    ? new MemoryRateLimiter({ clock, keys })
    : new SharedRateLimiter({ counters, clock, keys, logger });
}
