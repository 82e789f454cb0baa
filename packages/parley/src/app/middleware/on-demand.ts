import type { Exchange } from '../../bindings/http/exchange.js';
import { LoadedOnDemand } from '../../runtime/loaded-on-demand.js';
import type { CorsOptions, CorsOrigins } from './cors-options.js';

/**
 * An exchange whose code is loaded by its first request, so that a server does not load what it does not use. If that
 * fails, the request fails, and the next one tries again.
 */
export function onDemand(load: () => Promise<Exchange>): Exchange {
  const exchange = new LoadedOnDemand(load);
  const first: Exchange = async (request) => (await exchange.get())(request);
  return (request) => (exchange.loaded ?? first)(request);
}

/** The exchange with CORS (`withCors`). */
export function corsOnDemand(exchange: Exchange, options: CorsOrigins | CorsOptions): Exchange {
  return onDemand(async () => (await import('./cors.js')).withCors(exchange, options));
}
