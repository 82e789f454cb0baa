import type { Exchange } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';

const HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'x-a2a-protocol': '1.0',
  'x-powered-by': 'BaseA2AServer/2.0',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-xss-protection': '1; mode=block',
});

/** The same exchange, its answers with the headers of a base server; the time is that until the head of the answer is known. */
export function withBaseServerHeaders(exchange: Exchange, clock: Clock): Exchange {
  return async (request) => {
    const start = clock.monotonic();
    const answer = await exchange(request);
    const time = `${Math.round(clock.monotonic() - start)}ms`;
    return { ...answer, headers: { ...answer.headers, ...HEADERS, 'x-response-time': time } };
  };
}
