import type { IncomingMessage } from 'node:http';
import { errorAnswer } from '../../app/json-answer.js';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { LimitName } from '../../telemetry/reached-limit.js';

/**
 * Maximum number of header lines. Some versions of Node.js drop the rest, which may have the address that a proxy has
 * added.
 */
const MOST_HEADER_LINES = 1_000;

/** The answer to a request with too many header lines. The connection ends with it. */
export const TOO_MANY_LINES = errorAnswer({ status: 431, message: 'The request has too many header lines' });

/** The answer to a valid request that HTTP requires servers to refuse; `undefined` for all other requests. */
export function refusalOf({
  headers,
  rawHeaders,
  httpVersionMajor,
  httpVersionMinor,
}: IncomingMessage): ExchangeResponse | undefined {
  if (httpVersionMajor !== 1) return errorAnswer({ status: 505, message: 'This server speaks HTTP/1.1' });
  if (rawHeaders.length > 2 * MOST_HEADER_LINES) return TOO_MANY_LINES;
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

/** The answer to bytes that are no HTTP request, and the limit that they exceed. */
interface MalformedRequest {
  readonly limit?: LimitName;
  readonly answer: ExchangeResponse;
}

/** Maps the error code of the parser. `hasHead`: the head of the request has arrived. */
export function malformedRequest(code: string | undefined, hasHead: boolean): MalformedRequest {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return beyond('headBytes', 431, 'The request headers are too large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return beyond('chunkExtensionBytes', 413, 'The chunk extensions are too large');
    case TIMED_OUT:
      return beyond(hasHead ? 'requestMs' : 'headersMs', 408, 'The request did not arrive in time');
    default:
      return { answer: errorAnswer({ status: 400, message: 'This is no valid HTTP request' }) };
  }
}

function beyond(limit: LimitName, status: number, message: string): MalformedRequest {
  return { limit, answer: errorAnswer({ status, message }) };
}

/** The code of the parser for a request that took too long to arrive. */
export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** The code of a connection that took too long to begin TLS. It gets no answer. */
export const TLS_TIMED_OUT = 'ERR_TLS_HANDSHAKE_TIMEOUT';

/** The code of the parser if the peer closed its side of the connection within a request. */
export const CUT_OFF = 'HPE_INVALID_EOF_STATE';

/** True if an error of a connection is about its bytes, and not about the connection. */
export function isMalformed(code: string | undefined): boolean {
  return code === TIMED_OUT || code?.startsWith('HPE_') === true;
}
