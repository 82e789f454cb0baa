import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';

/** A WebSocket of any host. Only text messages arrive: a host closes a socket with binary ones (1003). */
export interface SocketPort {
  /** Sends a text message. Does nothing on a closed socket. */
  send(text: string): void;
  /** Sends a close frame, and ends the connection soon after. */
  close(code: number, reason: string): void;
  /** Cuts the connection at once. */
  terminate(): void;
  /** Bytes that were sent and are still in this process. */
  readonly bufferedAmount: number;
  /** Sends a ping. Absent: the host cannot. */
  ping?(): void;
  /** Stops reading until `resume`. Absent: the host cannot. */
  pause?(): void;
  resume?(): void;
  /** The longest message from now on, in bytes. A longer one ends the connection (1009). Absent: the host cannot. */
  limitMessages?(bytes: number): void;
  /** Registers the receiver of all that happens. Called once, before anything arrives. */
  receive(receiver: SocketReceiver): void;
}

/** A request for a WebSocket, as a server of node:http gives it to its listeners for `upgrade`. */
export interface WebSocketUpgrade {
  /** The request, an `IncomingMessage`. */
  readonly incoming: object;
  /** Its connection, a `Socket`. */
  readonly socket: object;
  /** The first bytes after the request, a `Buffer`. */
  readonly head: object;
  /** Called with the open WebSocket, before anything arrives. */
  readonly opened: (port: SocketPort) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The receiver of a socket. `closed` is called once, and nothing follows it. */
export interface SocketReceiver {
  message(text: string): void;
  /** A part of a message has arrived. `bytes` is the approximate number of its bytes so far. */
  arriving?(bytes: number): void;
  pong(): void;
  /** `code` is 1006 if the connection ended without a close frame. */
  closed(code: number, reason: string): void;
}
