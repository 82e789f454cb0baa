import type { RefusedRequest } from '../../bindings/http/answer-call.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import type { Rate, RateDecision, RateLimiter } from './rate-limiter.js';

/** The options of `withRate`. */
export interface RateRule {
  /** Names the limit in headers and metrics. */
  readonly limit: 'address' | 'principal';
  readonly limiter: RateLimiter;
  /** The key of a request, unlike those of other limits, and its rate; `undefined` if the request is not limited. */
  readonly ruleOf: (request: ExchangeRequest) => { readonly key: string; readonly rate: Rate } | undefined;
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
    const answer = (decided: RateDecision): Promise<ExchangeResponse> => {
      request.addedHeaders = fields.with(request.addedHeaders, found.rate, decided);
      return decided.allowed ? next(request) : refusal({ rule, request, ...found, decision: decided });
    };
    if (!(decision instanceof Promise)) return answer(decision);
    return decision.then(
      (later) => {
        isFailing = false;
        return answer(later);
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

interface Refused {
  readonly rule: RateRule;
  readonly request: ExchangeRequest;
  readonly key: string;
  readonly rate: Rate;
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

/** The fields of one limit. Structured fields are lists, so that an outer limit stands beside an inner one. */
class RateFields {
  readonly #limit: RateRule['limit'];
  #rate: Rate | undefined;
  #outerPolicy: string | undefined;
  /** The policy of the last request. Nearly all requests have the same, which is not put together for each. */
  #policy = '';

  constructor(limit: RateRule['limit']) {
    this.#limit = limit;
  }

  with(outer: AddedHeaders, rate: Rate, { remaining, resetMs }: RateDecision): AddedHeaders {
    const state = `"${this.#limit}";r=${Math.max(0, remaining)};t=${seconds(resetMs)}`;
    const policy = this.#policyOf(outer?.['ratelimit-policy'], rate);
    return { ratelimit: outer === undefined ? state : `${outer.ratelimit}, ${state}`, 'ratelimit-policy': policy };
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
