import type { ExchangeRequest } from '../http/exchange.js';

/**
 * Whether an error before the first event of a stream is an event stream with one error frame for this client. All others get a plain JSON
 * answer: the official JavaScript client makes typed errors of nothing else, and the official compatibility kit refuses an event stream. The
 * client of the Go SDK reads an answer to a streaming call as an event stream only, and drops a plain one without a word.
 */
export function readsOnlyStreams(request: ExchangeRequest): boolean {
  const agent = request.header('user-agent') ?? '';
  return agent.startsWith('Go-http-client') || agent.includes('a2a-go');
}
