import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import { type WebSocketLike, WebSocketPort } from '../../bindings/http/web-socket-port.js';

/** The two ends of a connection in Cloudflare Workers: one for the answer, one for the Worker. */
type SocketPair = new () => { readonly 0: WebSocketLike; readonly 1: WebSocketLike & { accept(): void } };

/**
 * The answer that opens a WebSocket, on platforms with the `WebSocketPair` of Cloudflare Workers. Others answer 501.
 */
export function upgradedResponse(upgrade: NonNullable<ExchangeResponse['upgrade']>): Response {
  const { WebSocketPair } = globalThis as { readonly WebSocketPair?: SocketPair };
  if (WebSocketPair === undefined) return new Response('WebSockets are not served on this host', { status: 501 });
  const { 0: webSocket, 1: socket } = new WebSocketPair();
  socket.accept();
  upgrade(new WebSocketPort(socket));
  return new Response(null, { status: 101, webSocket } as ResponseInit);
}
