import type { IncomingMessage } from 'node:http';
import { errorAnswer } from '../../app/json-answer.js';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';

/** The answer to a request that HTTP itself says must be refused, although its bytes are in order; undefined for all others. */
export function refusalOf({
  headers,
  httpVersionMajor,
  httpVersionMinor,
}: IncomingMessage): ExchangeResponse | undefined {
  if (httpVersionMajor !== 1) return errorAnswer({ status: 505, message: 'This server speaks HTTP/1.1' });
  const { host } = headers;
  // Several lines arrive joined. RFC 9112 §3.2.
  if (host === undefined ? httpVersionMinor !== 0 : host.includes(',')) {
    return errorAnswer({ status: 400, message: 'The request needs exactly one Host header' });
  }
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  // RFC 9112 §6.1: proxies of HTTP/1.0 do not know it, and may see two requests where there is one.
  if (httpVersionMinor === 0) {
    return errorAnswer({ status: 400, message: 'A request of HTTP/1.0 must not have a transfer coding' });
  }
  if (coding.toLowerCase() === 'chunked') return undefined;
  return errorAnswer({ status: 501, message: 'The only transfer coding that is understood is chunked' });
}
