import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { closed, count, eitherOf, flag, func, pattern } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { type AnswerHeaders, varying, withHeaders } from './answer-headers.js';

/** The origins whose pages may call: any (`*`), the listed ones, or those for which the function gives true. */
export type CorsOrigins = '*' | readonly string[] | ((origin: string) => boolean | Promise<boolean>);

/** The rules for pages of other origins that call from a browser. */
export interface CorsOptions {
  readonly origins: CorsOrigins;
  /** Request headers beyond those of the protocol that a page may send, such as that of an API key. */
  readonly allowedHeaders?: readonly string[];
  /** Answer headers beyond those of the protocol that a page may read. */
  readonly exposedHeaders?: readonly string[];
  /** True if a browser may send cookies; default false, and never for `*`. */
  readonly credentials?: boolean;
  /** The time for which a browser caches the answer to a preflight request; default 7200, the most it accepts. */
  readonly maxAgeSeconds?: number;
}

const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const ALLOWED =
  'A2A-Version, A2A-Extensions, X-A2A-Extensions, Accept, Authorization, Cache-Control, Content-Digest, Content-Disposition, Content-Type, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, Range, Repr-Digest, Traceparent, Tracestate, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, X-A2A-Protocol, X-API-Key, X-Request-ID';
const EXPOSED =
  'A2A-Version, A2A-Extensions, X-A2A-Extensions, Content-Disposition, Content-Range, ETag, Location, RateLimit, RateLimit-Policy, Repr-Digest, Retry-After, Upload-Offset, WWW-Authenticate, X-A2A-Protocol, X-Request-ID, X-Response-Time';
const MAX_AGE_SECONDS = 7200;

const headerNames = Type.Array(pattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header'));
const originText = Type.Refine(
  Type.String(),
  isOrigin,
  () => 'must be an origin such as "https://example.com", without a path',
);
const origins = eitherOf(
  [Type.Literal('*'), Type.Array(originText), func],
  'must be "*", a list of origins such as ["https://example.com"], or a function',
);

/** The schema of `cors` of a server. */
export const corsSchema = eitherOf(
  [
    origins,
    Type.Refine(
      closed({
        origins,
        allowedHeaders: Type.Optional(headerNames),
        exposedHeaders: Type.Optional(headerNames),
        credentials: Type.Optional(flag),
        maxAgeSeconds: Type.Optional(count),
      }),
      ({ origins, credentials }) => origins !== '*' || credentials !== true,
      () => 'no cookies for every origin',
    ),
  ],
  'must be "*", a list of origins such as ["https://example.com"], a function, or an object with origins',
);

function isOrigin(text: string): boolean {
  return text === 'null' || (!text.includes('*') && URL.parse(text)?.origin === text);
}

/** The exchange for pages of other origins: it answers preflight requests, and lets the pages read the answers. */
export function withCors(exchange: Exchange, options: CorsOrigins | CorsOptions): Exchange {
  const { around, headers } = corsFor(options);
  return headers === undefined ? around(exchange) : withHeaders(around(exchange), headers);
}

/** CORS as a middleware. */
interface Cors {
  readonly around: (next: Exchange) => Exchange;
  /** Headers for every answer, if they are the same for all origins. The caller adds them, together with others. */
  readonly headers?: AnswerHeaders;
}

/** CORS for these origins. */
export function corsFor(options: CorsOrigins | CorsOptions): Cors {
  const rule = new CorsRule(typeof options === 'object' && 'origins' in options ? options : { origins: options });
  const { headers } = rule;
  if (headers === undefined) return { around: (next) => asked(next, rule) };
  const preflight = rule.preflight('*');
  return {
    around: (next) => (request) => (isPreflight(request) ? Promise.resolve(preflight) : next(request)),
    headers,
  };
}

/** The rule for the origins of pages. No origin may call without options. */
export function allowedOrigins(
  options: CorsOrigins | CorsOptions | undefined,
): (origin: string) => boolean | Promise<boolean> {
  if (options === undefined) return () => false;
  const origins = typeof options === 'object' && 'origins' in options ? options.origins : options;
  if (origins === '*') return () => true;
  return typeof origins === 'function' ? origins : (origin) => origins.includes(origin);
}

function asked(exchange: Exchange, rule: CorsRule): Exchange {
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
    this.#exposed = [EXPOSED, ...exposedHeaders].join(', ');
    this.#preflight = {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': [ALLOWED, ...allowedHeaders].join(', '),
      'access-control-max-age': String(maxAgeSeconds ?? MAX_AGE_SECONDS),
    };
  }

  /** The headers for every origin, if they do not depend on the origin. Caches can keep one answer for all of them. */
  get headers(): AnswerHeaders | undefined {
    return this.#isForAll ? { ...this.#granted('*'), 'access-control-expose-headers': this.#exposed } : undefined;
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
