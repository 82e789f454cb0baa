import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { WebSocketLike } from '../../bindings/http/web-socket-port.js';
import type { Clock } from '../../runtime/clock.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import { FetchExchangeRequest } from './fetch-exchange-request.js';
import { type FrameStreamOptions, frameStream } from './frame-stream.js';

/** Default of `stallMs`. */
const STALL_MS = 30_000;

/** An exchange, and the ports that drop stalled readers. */
export interface FetchAdapterOptions {
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Time in ms after which a reader that reads nothing of a stream is dropped; default 30 s. */
  readonly stallMs?: number | undefined;
  /** Called for each reader that is dropped. */
  readonly limitReached: (reached: ReachedLimit) => void;
}

/**
 * A web handler. The second argument is what the runtime gives beside the request. In Deno, Bun and Hono on Node.js it
 * tells the address of the peer.
 */
export type WebHandler = (request: Request, platform?: unknown) => Promise<Response>;

/** Makes a web handler from an exchange: for Hono, Next.js, Workers, Bun, Deno, and tests without sockets. */
export function toFetch(options: FetchAdapterOptions): WebHandler {
  return (raw, platform) => fetchAnswer({ ...options, request: new FetchExchangeRequest(raw, { platform }), raw });
}

/** A web request on its way through an exchange. */
interface FetchedExchange extends FetchAdapterOptions {
  readonly request: FetchExchangeRequest;
  readonly raw: Request;
}

/** The answer of an exchange as a web response. */
export async function fetchAnswer(fetched: FetchedExchange): Promise<Response> {
  const { request, raw } = fetched;
  const answer = await fetched.exchange(request);
  await request.discard();
  const { status, headers, upgrade, bytes } = answer;
  if (upgrade !== undefined) return upgradedResponse(upgrade);
  if (bytes !== undefined) {
    const body = raw.method === 'HEAD' ? null : streamOf(bytes.chunks, fetched);
    return new Response(body, { status, headers: { ...headers, 'content-length': String(bytes.length) } });
  }
  return new Response(raw.method === 'HEAD' ? null : bodyOf(answer, fetched), { status, headers });
}

function bodyOf({ body, status }: ExchangeResponse, fetched: FetchedExchange) {
  if (body === undefined || status === 204 || status === 304) return null;
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return streamOf(body, fetched);
}

function streamOf(
  frames: FrameStreamOptions['frames'],
  { raw: { signal }, request, clock, stallMs = STALL_MS, limitReached }: FetchedExchange,
): ReadableStream<Uint8Array> {
  const dropped = () => limitReached({ limit: 'stallMs', caller: request.peer, requestId: request.requestId });
  return frameStream({ frames, signal, clock, stallMs, dropped });
}

/** The two ends of a connection in Cloudflare Workers: one for the answer, one for the Worker. */
type SocketPair = new () => { readonly 0: WebSocketLike; readonly 1: WebSocketLike & { accept(): void } };

/**
 * The answer that opens a WebSocket, on platforms with the `WebSocketPair` of Cloudflare Workers. Others answer 501.
 */
async function upgradedResponse(upgrade: NonNullable<ExchangeResponse['upgrade']>): Promise<Response> {
  const { WebSocketPair } = globalThis as { readonly WebSocketPair?: SocketPair };
  if (WebSocketPair === undefined) return new Response('WebSockets are not served on this host', { status: 501 });
  const { WebSocketPort } = await import('../../bindings/http/web-socket-port.js');
  const { 0: webSocket, 1: socket } = new WebSocketPair();
  socket.accept();
  upgrade(new WebSocketPort(socket));
  return new Response(null, { status: 101, webSocket } as ResponseInit);
}
