import type { RefusedRequest } from '../../bindings/http/answer-call.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import type { Rate, RateDecision, RateLimiter } from './rate-limiter.js';

/** The rate of a request, and the key by which its requests count. */
export interface FoundRate {
  readonly key: string;
  readonly rate: Rate;
}

/** The options of `withRate`. */
interface RateRule {
  /** Names the limit in headers and metrics. */
  readonly limit: 'address' | 'principal';
  readonly limiter: RateLimiter;
  /** The key of a request, unlike those of other limits, and its rate; `undefined` if the request is not limited. */
  readonly ruleOf: (request: ExchangeRequest) => FoundRate | undefined;
  readonly refusalOf: (
    request: ExchangeRequest,
  ) => (refused: RefusedRequest) => ExchangeResponse | Promise<ExchangeResponse>;
  readonly reached: (limit: ReachedLimit) => void;
  readonly logger: Logger;
}

/**
 * The exchange with a rate. Its answers have the fields `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers-10. A limiter that fails limits nothing: callers notice nothing of its failure.
 */
export function withRate(next: Exchange, rule: RateRule): Exchange {
  const { limit, limiter, ruleOf, logger } = rule;
  const fields = new RateFields(limit);
  let isFailing = false;
  const told = (error: unknown) => {
    if (!isFailing) logger.error('the rate limiter failed, requests are not limited', { limit, error });
    isFailing = true;
  };
  const answer = (request: ExchangeRequest, found: FoundRate, decision: RateDecision): Promise<ExchangeResponse> => {
    request.addedHeaders = fields.with(request.addedHeaders, found.rate, decision);
    return decision.allowed ? next(request) : refusal({ rule, request, ...found, decision });
  };
  return (request) => {
    const found = ruleOf(request);
    if (found === undefined) return next(request);
    let decision: RateDecision | Promise<RateDecision>;
    try {
      decision = limiter.take(found.key, found.rate);
    } catch (error) {
      told(error);
      return next(request);
    }
    if (!(decision instanceof Promise)) return answer(request, found, decision);
    return decision.then(
      (later) => {
        isFailing = false;
        return answer(request, found, later);
      },
      (error: unknown) => {
        told(error);
        return next(request);
      },
    );
  };
}

type AddedHeaders = ExchangeRequest['addedHeaders'];

/** RFC 6585 §4. */
const TOO_MANY_REQUESTS = 429;

interface Refused extends FoundRate {
  readonly rule: RateRule;
  readonly request: ExchangeRequest;
  readonly decision: RateDecision;
}

async function refusal({ rule, request, key, rate, decision }: Refused): Promise<ExchangeResponse> {
  const { limit, refusalOf, reached } = rule;
  reached({ limit, caller: key, requestId: request.requestId });
  const retryAfterMs = Math.max(1, decision.resetMs);
  const message = `Too many requests: ${rate.requests} in ${rate.windowMs / 1000} s are allowed`;
  const error = new A2AError('RESOURCE_EXHAUSTED', message, { metadata: { limit }, retryAfterMs });
  const refused = await refusalOf(request)({ request, error, challenges: [] });
  // Before JSON-RPC reads the request, HTTP itself refuses it.
  return { ...refused, status: TOO_MANY_REQUESTS };
}

/**
 * The fields of one limit. Structured fields are lists, so that an outer limit stands beside an inner one. The texts
 * that nearly all requests share are not put together for each.
 */
class RateFields {
  readonly #limit: RateRule['limit'];
  /** The beginning of the state, alone and behind an outer one. */
  readonly #alone: string;
  readonly #behind: string;
  #rate: Rate | undefined;
  #outerPolicy: string | undefined;
  #policy = '';
  #seconds = 0;
  #reset = '';

  constructor(limit: RateRule['limit']) {
    this.#limit = limit;
    this.#alone = `"${limit}";r=`;
    this.#behind = `, ${this.#alone}`;
  }

  with(outer: AddedHeaders, rate: Rate, { remaining, resetMs }: RateDecision): AddedHeaders {
    const begin = outer === undefined ? this.#alone : outer.ratelimit + this.#behind;
    const ratelimit = begin + Math.max(0, remaining) + this.#resetOf(seconds(resetMs));
    return { ratelimit, 'ratelimit-policy': this.#policyOf(outer?.['ratelimit-policy'], rate) };
  }

  #resetOf(afterSeconds: number): string {
    if (afterSeconds !== this.#seconds) {
      this.#seconds = afterSeconds;
      this.#reset = `;t=${afterSeconds}`;
    }
    return this.#reset;
  }

  #policyOf(outer: string | undefined, rate: Rate): string {
    if (rate === this.#rate && outer === this.#outerPolicy) return this.#policy;
    const own = `"${this.#limit}";q=${rate.requests};w=${seconds(rate.windowMs)}`;
    this.#rate = rate;
    this.#outerPolicy = outer;
    this.#policy = outer === undefined ? own : `${outer}, ${own}`;
    return this.#policy;
  }
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
