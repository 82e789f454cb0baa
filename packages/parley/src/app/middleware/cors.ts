import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { type AnswerHeaders, varying, withHeaders } from './answer-headers.js';
import {
  allowedOrigins,
  type CorsOptions,
  type CorsOrigins,
  corsRule,
  exposedNames,
  sharedCorsHeaders,
} from './cors-options.js';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const ALLOWED =
  'A2A-Version, A2A-Extensions, X-A2A-Extensions, Accept, Authorization, Cache-Control, Content-Digest, Content-Disposition, Content-Type, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, Range, Repr-Digest, Traceparent, Tracestate, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, X-A2A-Protocol, X-API-Key, X-Request-ID';
const MAX_AGE_SECONDS = 7200;

/** The exchange for pages of other origins: it answers preflight requests, and lets the pages read the answers. */
export function withCors(exchange: Exchange, options: CorsOrigins | CorsOptions): Exchange {
  const rule = new CorsRule(corsRule(options));
  const headers = sharedCorsHeaders(options);
  if (headers === undefined) return applyRule(exchange, rule);
  const preflight = rule.preflight('*');
  return withHeaders((request) => (isPreflight(request) ? Promise.resolve(preflight) : exchange(request)), headers);
}

function applyRule(exchange: Exchange, rule: CorsRule): Exchange {
  return async (request) => {
    const origin = request.header('origin');
    const allowed = await rule.allows(origin);
    if (isPreflight(request)) return rule.preflight(allowed);
    return rule.readable(await exchange(request), allowed);
  };
}

function isPreflight(request: ExchangeRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.header('origin') !== undefined &&
    request.header('access-control-request-method') !== undefined
  );
}

class CorsRule {
  readonly #allows: (origin: string) => boolean | Promise<boolean>;
  readonly #isForAll: boolean;
  readonly #credentials: AnswerHeaders;
  readonly #exposed: string;
  readonly #preflight: AnswerHeaders;

  constructor({ origins, allowedHeaders = [], exposedHeaders = [], credentials, maxAgeSeconds }: CorsOptions) {
    this.#isForAll = origins === '*';
    this.#allows = allowedOrigins(origins);
    this.#credentials = credentials === true ? { 'access-control-allow-credentials': 'true' } : {};
    this.#exposed = exposedNames(exposedHeaders);
    this.#preflight = {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': [ALLOWED, ...allowedHeaders].join(', '),
      'access-control-max-age': String(maxAgeSeconds ?? MAX_AGE_SECONDS),
    };
  }

  /** The origin that may read the answer. */
  async allows(origin: string | undefined): Promise<string | undefined> {
    return origin !== undefined && (await this.#allows(origin)) ? origin : undefined;
  }

  preflight(allowed: string | undefined): ExchangeResponse {
    const headers = allowed === undefined ? {} : { ...this.#granted(allowed), ...this.#preflight };
    return this.#dependent({ status: 204, headers });
  }

  readable(answer: ExchangeResponse, allowed: string | undefined): ExchangeResponse {
    if (allowed === undefined) return this.#dependent(answer);
    const granted = { ...this.#granted(allowed), 'access-control-expose-headers': this.#exposed };
    return this.#dependent({ ...answer, headers: { ...answer.headers, ...granted } });
  }

  #granted(origin: string): AnswerHeaders {
    return { 'access-control-allow-origin': origin, ...this.#credentials };
  }

  #dependent(answer: ExchangeResponse): ExchangeResponse {
    return this.#isForAll ? answer : varying(answer, 'Origin');
  }
}
