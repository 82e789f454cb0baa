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
      request.addedHeaders = withFields(request.addedHeaders, { limit, rate: found.rate, decision: decided });
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

/** Structured fields are lists, so that an outer limit stands beside an inner one. */
function withFields(
  outer: ExchangeRequest['addedHeaders'],
  { limit, rate, decision }: Pick<Refused, 'rate' | 'decision'> & Pick<RateRule, 'limit'>,
): ExchangeRequest['addedHeaders'] {
  const state = `"${limit}";r=${Math.max(0, decision.remaining)};t=${seconds(decision.resetMs)}`;
  const policy = `"${limit}";q=${rate.requests};w=${seconds(rate.windowMs)}`;
  if (outer === undefined) return { ratelimit: state, 'ratelimit-policy': policy };
  return { ratelimit: `${outer.ratelimit}, ${state}`, 'ratelimit-policy': `${outer['ratelimit-policy']}, ${policy}` };
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
