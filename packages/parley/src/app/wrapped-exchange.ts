import type { Exchange } from '../bindings/http/exchange.js';
import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import type { Logger } from '../telemetry/logger.js';
import type { RequestMetrics } from '../telemetry/request-metrics.js';
import { withNosniff } from './answer-headers.js';
import { type Compression, withCompression } from './compression.js';
import { withCors } from './cors.js';
import type { HostOptions } from './host-options.js';
import { observed } from './observed-exchange.js';

/** What goes around the exchanges of a host. */
export interface Wrapping extends Pick<HostOptions, 'cors'> {
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
  if (nosniff === true) outer = withNosniff(outer);
  if (cors !== undefined) outer = withCors(outer, cors);
  if (metrics === undefined && !logRequests) return outer;
  return observed(outer, { metrics, logger: logRequests ? logger : undefined, clock, ids });
}
