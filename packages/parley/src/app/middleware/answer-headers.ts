import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';

/** Headers of an answer, by lower-case name. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** The exchange with all headers on its answers (`allHeaders`). */
export function withHeaders(exchange: Exchange, fixed: AnswerHeaders): Exchange {
  return (request) =>
    exchange(request).then((answer) => ({ ...answer, headers: allHeaders(fixed, { request, answer }) }));
}

/**
 * The headers of an answer: its own, and those that middlewares have added to its request. A fixed header is added if
 * the answer has none of its name. No cache keeps the answer to a user, or a refusal of a caller.
 */
export function allHeaders(
  fixed: AnswerHeaders,
  { request, answer }: { readonly request: ExchangeRequest; readonly answer: ExchangeResponse },
): Record<string, string> {
  const headers: Record<string, string> = { ...fixed, ...answer.headers, ...request.addedHeaders };
  if (request.user !== undefined || answer.status === 401 || answer.status === 403) {
    headers['cache-control'] = privateCaching(headers['cache-control']);
  }
  return headers;
}

function privateCaching(own: string | undefined): string {
  if (own?.includes('no-store')) return own;
  return own?.includes('no-transform') ? 'private, no-store, no-transform' : 'private, no-store';
}

/** Tells browsers not to guess the type of an answer. */
export const NOSNIFF: AnswerHeaders = Object.freeze({ 'x-content-type-options': 'nosniff' });

/** Tells browsers to use only https for this many seconds (RFC 6797). */
export function strictTransport(seconds: number): AnswerHeaders {
  return Object.freeze({ 'strict-transport-security': `max-age=${seconds}` });
}

/** The same answer, with a header of the request added to `Vary`. */
export function varying(answer: ExchangeResponse, name: string): ExchangeResponse {
  const { vary } = answer.headers;
  if (vary === undefined) return { ...answer, headers: { ...answer.headers, vary: name } };
  const named = vary.split(',').map((one) => one.trim().toLowerCase());
  if (named.includes('*') || named.includes(name.toLowerCase())) return answer;
  return { ...answer, headers: { ...answer.headers, vary: `${vary}, ${name}` } };
}
