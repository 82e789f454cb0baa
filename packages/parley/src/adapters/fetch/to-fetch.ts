import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import { FetchExchangeRequest } from './fetch-exchange-request.js';
import { frameStream } from './frame-stream.js';
import { upgradedResponse } from './web-socket-pair.js';

/** An exchange as a web handler: for Hono, Next.js, Workers, Bun, Deno, and tests without sockets. */
export function toFetch(exchange: Exchange, clock: Clock): (request: Request) => Promise<Response> {
  return (raw) => fetchAnswer({ exchange, clock, request: new FetchExchangeRequest(raw), raw });
}

/** A web request on its way through an exchange. */
export interface FetchedExchange {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly request: FetchExchangeRequest;
  readonly raw: Request;
}

/** The answer of an exchange as a web response. */
export async function fetchAnswer({ exchange, clock, request, raw }: FetchedExchange): Promise<Response> {
  const answer = await exchange(request);
  await request.discard();
  const { status, headers, upgrade, bytes } = answer;
  if (upgrade !== undefined) return upgradedResponse(upgrade);
  if (bytes !== undefined) {
    const body = raw.method === 'HEAD' ? null : frameStream({ frames: bytes.chunks, signal: raw.signal, clock });
    return new Response(body, { status, headers: { ...headers, 'content-length': String(bytes.length) } });
  }
  return new Response(raw.method === 'HEAD' ? null : bodyOf(answer, raw, clock), { status, headers });
}

function bodyOf({ body, status }: ExchangeResponse, request: Request, clock: Clock) {
  if (body === undefined || status === 204 || status === 304) return null;
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return frameStream({ frames: body, signal: request.signal, clock });
}
