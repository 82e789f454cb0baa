import type { Exchange } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RequestMetrics } from '../../telemetry/request-metrics.js';
import { type AnswerHeaders, NOSNIFF, withHeaders } from './answer-headers.js';
import { type Compression, withCompression } from './compression.js';
import { type CorsOptions, type CorsOrigins, corsParts } from './cors.js';
import { observed } from './observed-exchange.js';

/** What goes around the exchanges of a host. */
export interface Wrapping {
  /** Whose pages may call; absent: those of no other origin. */
  readonly cors?: CorsOrigins | CorsOptions | undefined;
  readonly nosniff?: boolean | undefined;
  readonly compression?: Compression | undefined;
  /** Whether there is a line in the log for each request. */
  readonly logRequests: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Puts around an exchange what a host was asked for, and nothing where it was not. */
export function wrapped(exchange: Exchange, wrapping: Wrapping, metrics: RequestMetrics | undefined): Exchange {
  const { compression, cors, nosniff, logRequests, logger, clock, ids } = wrapping;
  let outer = compression === undefined ? exchange : withCompression(exchange, compression);
  // What all answers say is added at once.
  let headers: AnswerHeaders = nosniff === true ? NOSNIFF : {};
  if (cors !== undefined) {
    const parts = corsParts(outer, cors);
    outer = parts.exchange;
    headers = { ...headers, ...parts.headers };
  }
  if (metrics !== undefined || logRequests) {
    return observed(outer, { metrics, logger: logRequests ? logger : undefined, clock, ids, headers });
  }
  return Object.keys(headers).length === 0 ? outer : withHeaders(outer, headers);
}
