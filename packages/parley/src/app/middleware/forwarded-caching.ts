import type { Exchange } from '../../bindings/http/exchange.js';
import { varying } from './answer-headers.js';

/** The rule by which proxies tell a server its base url. */
export interface Forwarding {
  /** True if the operator lists the hosts. If not, a client may have chosen the host that an answer names. */
  readonly listed: boolean;
}

const FORWARDED = ['Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Prefix'];

/** The same exchange. No cache gives its answers to clients that sent other forwarded headers. */
export function withForwardedCaching(exchange: Exchange, { listed }: Forwarding): Exchange {
  return async (request) => {
    const answer = await exchange(request);
    const caching = answer.headers['cache-control'];
    if (caching === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return answer;
    const varied = FORWARDED.reduce(varying, answer);
    if (listed) return varied;
    return { ...varied, headers: { ...varied.headers, 'cache-control': caching.replace('public', 'private') } };
  };
}
