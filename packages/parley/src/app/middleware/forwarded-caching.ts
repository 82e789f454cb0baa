import type { Exchange } from '../../bindings/http/exchange.js';
import { varying } from './answer-headers.js';

/** The rule by which proxies tell a server its base url. */
export interface Forwarding {
  /** True if the operator lists hosts and prefixes. If not, a client may have chosen those that an answer names. */
  readonly listed: boolean;
}

const FORWARDED = ['Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Prefix'];

/**
 * The same exchange. No cache gives its answers to clients that sent other forwarded headers. All readable answers say
 * so: most of them name an address, and a cache may keep those that do not say how long.
 */
export function withForwardedCaching(exchange: Exchange, { listed }: Forwarding): Exchange {
  return async (request) => {
    const answer = await exchange(request);
    if ((request.method !== 'GET' && request.method !== 'HEAD') || answer.upgrade !== undefined) return answer;
    const varied = FORWARDED.reduce(varying, answer);
    if (listed) return varied;
    const caching = answer.headers['cache-control']?.replace('public', 'private') ?? 'private';
    return { ...varied, headers: { ...varied.headers, 'cache-control': caching } };
  };
}
