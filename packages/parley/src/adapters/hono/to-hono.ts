import { FetchExchangeRequest } from '../fetch/fetch-exchange-request.js';
import { type FetchAdapterOptions, fetchAnswer } from '../fetch/to-fetch.js';

/** The parts of Hono's context that the adapter reads. */
export interface HonoContext {
  /** The facts that the runtime gives beside the request. */
  readonly env?: unknown;
  readonly req: {
    readonly raw: Request;
    /** The pattern of the route, such as `/agents/:name/*`. */
    readonly routePath: string;
  };
}

/** Makes a handler of Hono from an exchange. It answers every request below the path of its route. */
export function toHono(options: FetchAdapterOptions): (context: HonoContext) => Promise<Response> {
  return ({ env: platform, req: { raw, routePath } }) => {
    const request = new FetchExchangeRequest(raw, { mount: mountOf(raw, routePath), platform });
    return fetchAnswer({ ...options, request, raw });
  };
}

/**
 * The mount path: as many segments of the path as the pattern has before its `*`, because a pattern may have
 * parameters.
 */
function mountOf(raw: Request, routePath: string): string {
  const depth = routePath.replace(/\/?\*$/, '').split('/').length;
  return new URL(raw.url).pathname.split('/').slice(0, depth).join('/');
}
