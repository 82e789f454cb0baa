import type { Exchange } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import { FetchExchangeRequest } from '../fetch/fetch-exchange-request.js';
import { fetchAnswer } from '../fetch/to-fetch.js';

/** A request as Hono hands it to its handlers, as far as the adapter reads it. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request;
    /** The pattern of the route, such as `/agents/:name/*`. */
    readonly routePath: string;
  };
}

/** The exchange, and the clock that drops stalled readers. */
export interface HonoAdapterOptions {
  readonly exchange: Exchange;
  readonly clock: Clock;
}

/** An exchange as a handler of Hono. It answers everything below the path of its route. */
export function toHono({ exchange, clock }: HonoAdapterOptions): (context: HonoContext) => Promise<Response> {
  return ({ req: { raw, routePath } }) => {
    const request = new FetchExchangeRequest(raw, mountOf(raw, routePath));
    return fetchAnswer({ exchange, clock, request, raw });
  };
}

/** A pattern may have parameters, so the mount has as many segments of the path as the pattern has before its `*`. */
function mountOf(raw: Request, routePath: string): string {
  const depth = routePath.replace(/\/?\*$/, '').split('/').length;
  return new URL(raw.url).pathname.split('/').slice(0, depth).join('/');
}
