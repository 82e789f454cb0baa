import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorAnswer } from '../../app/json-answer.js';
import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { SocketPort, WebSocketUpgrade } from '../../bindings/http/socket-port.js';
import type { Clock } from '../../runtime/clock.js';
import { LinkedList } from '../../runtime/linked-list.js';
import type { Logger } from '../../telemetry/logger.js';
import { sendRaw } from './answer.js';
import { NodeExchangeRequest } from './node-exchange-request.js';
import { refusalOf } from './refused-request.js';

/** The exchange for upgrade requests, and its ports. */
export interface UpgradedSocketsOptions {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Answers a handshake. Resolves to whether the WebSocket is open. */
  readonly acceptWebSocket: (upgrade: WebSocketUpgrade) => Promise<boolean>;
  /** Called with the status of each answer that is sent instead of the exchange's. */
  readonly refused?: ((status: number) => void) | undefined;
}

const FAILED = errorAnswer({ status: 500, message: 'The connection could not be upgraded' });
const NOT_UPGRADED = errorAnswer({ status: 400, message: 'This is no valid WebSocket request' });

/** 16 bytes in base64 (RFC 6455 §4.1). */
const HANDSHAKE_KEY = /^[+/\dA-Za-z]{22}==$/;
/** 8 is the last draft of version 13, and has the same frames. */
const HANDSHAKE_VERSIONS = ['13', '8'];

/** True if a request asks for a WebSocket, and for no other protocol, with a handshake that a server may accept. */
export function isWebSocket({ method, headers }: IncomingMessage): boolean {
  const { upgrade, 'sec-websocket-key': key = '', 'sec-websocket-version': version = '' } = headers;
  const isAsked = method === 'GET' && upgrade?.toLowerCase() === 'websocket';
  return isAsked && HANDSHAKE_KEY.test(key) && HANDSHAKE_VERSIONS.includes(version);
}

/**
 * Puts the request of a connection back without its `Upgrade`, which a server may ignore (RFC 9110 §7.8). For clients
 * that offer another protocol, such as `h2c`, or a WebSocket with a wrong handshake.
 */
export function withoutUpgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): Socket {
  const { method, url, httpVersion, rawHeaders } = incoming;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    const kept = /^connection$/i.test(name) ? withoutToken(value) : value;
    if (!/^upgrade$/i.test(name) && kept !== '') text += `${name}: ${kept}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  return socket;
}

function withoutToken(connection: string): string {
  const tokens = connection.split(',').map((token) => token.trim());
  return tokens.filter((token) => !/^upgrade$/i.test(token)).join(', ');
}

/** The WebSockets of a server, from their upgrade requests to their ends. */
export class UpgradedSockets {
  readonly #options: UpgradedSocketsOptions;
  readonly #ports = new LinkedList<SocketPort>();

  constructor(options: UpgradedSocketsOptions) {
    this.#options = options;
  }

  /** Open sockets. */
  get size(): number {
    return this.#ports.size;
  }

  /** Handles an upgrade request. */
  take(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => {});
    const { exchange, logger } = this.#options;
    const refusal = refusalOf(incoming);
    if (refusal !== undefined) return this.#refuse(socket, refusal);
    const response = { destroyed: socket.destroyed, writableFinished: false, once: socket.once.bind(socket) };
    const request = new NodeExchangeRequest({
      incoming,
      // Only the `close` event of the response is used.
      response: response as unknown as ServerResponse,
      expectsContinue: false,
    });
    exchange(request)
      .then((answer) => this.#answer(answer, { incoming, socket, head }))
      .catch((error: unknown) => {
        logger.error('A connection could not be upgraded', { error });
        this.#refuse(socket, FAILED);
      });
  }

  /** Terminates all connections. */
  terminate(): void {
    for (const port of this.#ports.values()) port.terminate();
  }

  #refuse(socket: Socket, answer: ExchangeResponse): void {
    const { clock, refused } = this.#options;
    sendRaw({ socket, answer, clock, refused });
  }

  async #answer(answer: ExchangeResponse, { incoming, socket, head }: Upgrade): Promise<void> {
    const { acceptWebSocket, clock, logger } = this.#options;
    const { upgrade } = answer;
    if (upgrade === undefined) return sendRaw({ socket, answer, clock });
    const opened = (port: SocketPort): void => {
      const place = this.#ports.add(port);
      socket.once('close', () => this.#ports.remove(place));
      upgrade(port);
    };
    const isOpen = await acceptWebSocket({ incoming, socket, head, opened, clock, logger });
    if (!isOpen) this.#refuse(socket, NOT_UPGRADED);
  }
}

interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}
