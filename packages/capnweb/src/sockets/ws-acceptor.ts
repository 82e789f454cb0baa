import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketUpgrade } from 'parley-a2a/binding-kit';
import { LoadedOnDemand } from 'parley-a2a/kit';
import type { WebSocketServer } from 'ws';
import { CLOSE_MS, WsSocketPort } from './ws-socket-port.js';

/** Maximum message size of any WebSocket, in bytes. Its endpoint may set a lower limit. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** The types of `ws` do not declare `closeTimeout`. */
const OPTIONS = {
  noServer: true,
  clientTracking: false,
  // Off, because a small compressed message could expand to a large one.
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  autoPong: false,
  closeTimeout: CLOSE_MS,
} as const;

/** Only upgrade requests load its code. */
const acceptor = new LoadedOnDemand<WebSocketServer>(async () => {
  const { WebSocketServer } = await import('ws');
  // With a listener, `ws` leaves the answer to a wrong handshake to the server.
  return new WebSocketServer(OPTIONS).on('wsClientError', () => {});
});

/** Answers the handshake of a WebSocket on a server of node:http. Resolves to true if the WebSocket is open. */
export async function acceptWebSocket(upgrade: WebSocketUpgrade): Promise<boolean> {
  const { opened, clock, logger } = upgrade;
  const [incoming, socket, head] = [
    upgrade.incoming as IncomingMessage,
    upgrade.socket as Socket,
    upgrade.head as Buffer,
  ];
  let isOpen = false;
  const server = await acceptor.get();
  // Without `verifyClient`, it calls back synchronously.
  server.handleUpgrade(incoming, socket, head, (webSocket) => {
    isOpen = true;
    opened(new WsSocketPort({ webSocket, socket, clock, logger }));
  });
  return isOpen;
}
