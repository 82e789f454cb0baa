import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';

/** Headers of an answer, by lower-case name. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** The exchange with these headers on its answers. A header that the answer has already stays. */
export function withHeaders(exchange: Exchange, headers: AnswerHeaders): Exchange {
  if (Object.keys(headers).length === 0) return exchange;
  return (request) => exchange(request).then((answer) => ({ ...answer, headers: { ...headers, ...answer.headers } }));
}

/** Tells browsers to take the type of an answer for what it says. */
export const NOSNIFF: AnswerHeaders = Object.freeze({ 'x-content-type-options': 'nosniff' });

/** Tells browsers to use only https for this many seconds (RFC 6797). */
export function strictTransport(seconds: number): AnswerHeaders {
  return Object.freeze({ 'strict-transport-security': `max-age=${seconds}` });
}

/** The same answer, for caches one that depends on a header of the request. */
export function varying(answer: ExchangeResponse, name: string): ExchangeResponse {
  const { vary } = answer.headers;
  if (vary === undefined) return { ...answer, headers: { ...answer.headers, vary: name } };
  const named = vary.split(',').map((one) => one.trim().toLowerCase());
  if (named.includes('*') || named.includes(name.toLowerCase())) return answer;
  return { ...answer, headers: { ...answer.headers, vary: `${vary}, ${name}` } };
}
