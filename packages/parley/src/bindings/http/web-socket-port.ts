import { ConnectionError } from '../../errors/connection-error.js';
import type { SocketPort, SocketReceiver } from './socket-port.js';

/** The part of the web's `WebSocket` that ports need. The package `ws` and Cloudflare Workers have the same. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount?: number;
  binaryType?: string;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void;
}

/** The members of the events of a `WebSocket` that ports read. */
export interface WebSocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

const OPEN = 1;
const ABNORMAL = 1006;
const UNSUPPORTED_DATA = 1003;
/** The longest reason of a close frame, in bytes (RFC 6455 §5.5). */
const REASON_BYTES = 123;

/**
 * Waits until a socket is open. An aborted signal closes it.
 * @throws ConnectionError or the reason of the signal.
 */
export function openWebSocket(socket: WebSocketLike, signal: AbortSignal): Promise<WebSocketPort> {
  return new Promise((resolve, reject) => {
    const failed = (reason: unknown): void => {
      signal.removeEventListener('abort', aborted);
      reject(reason);
    };
    const aborted = (): void => {
      failed(signal.reason);
      closeQuietly(socket);
    };
    let cause = '';
    socket.addEventListener('open', () => {
      signal.removeEventListener('abort', aborted);
      resolve(new WebSocketPort(socket));
    });
    socket.addEventListener('error', ({ message }) => {
      cause ||= message ?? '';
    });
    socket.addEventListener('close', () => {
      const reason = cause === '' ? 'the connection failed' : cause;
      failed(new ConnectionError(`No WebSocket could be opened: ${reason}`, { sent: false }));
    });
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

/**
 * The port of an open `WebSocket` of the web. `terminate` is a close here, because the web has nothing else. After
 * that, the port is closed at once, even if the peer never answers.
 */
export class WebSocketPort implements SocketPort {
  readonly #socket: WebSocketLike;
  #receiver: SocketReceiver | undefined;
  /** Messages that arrived before there was a receiver. */
  #early: string[] = [];
  #end: { readonly code: number; readonly reason: string } | undefined;

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(data));
    socket.addEventListener('close', ({ code = ABNORMAL, reason = '' }) => this.#finish(code, reason));
    // Workers close their side only on request. On other hosts `close` follows an error.
    socket.addEventListener('error', () => this.#finish(ABNORMAL, ''));
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount ?? 0;
  }

  send(text: string): void {
    if (this.#end !== undefined || this.#socket.readyState !== OPEN) return;
    try {
      this.#socket.send(text);
    } catch {
      // The socket is closing, and its event follows.
    }
  }

  close(code: number, reason: string): void {
    if (this.#end !== undefined) return;
    closeQuietly(this.#socket, code, shorten(reason));
    this.#finish(code, reason);
  }

  terminate(): void {
    if (this.#end !== undefined) return;
    closeQuietly(this.#socket);
    this.#finish(ABNORMAL, '');
  }

  receive(receiver: SocketReceiver): void {
    this.#receiver = receiver;
    for (const text of this.#early.splice(0)) receiver.message(text);
    if (this.#end !== undefined) receiver.closed(this.#end.code, this.#end.reason);
  }

  #take(data: unknown): void {
    if (this.#end !== undefined) return;
    if (typeof data !== 'string') this.close(UNSUPPORTED_DATA, 'Only text messages are read');
    else if (this.#receiver === undefined) this.#early.push(data);
    else this.#receiver.message(data);
  }

  #finish(code: number, reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = { code, reason };
    // The side of a Worker stays half open until it closes, too.
    if (this.#socket.readyState !== OPEN) closeQuietly(this.#socket);
    this.#receiver?.closed(code, reason);
  }
}

/** The longest text that fits a close frame. */
function shorten(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= REASON_BYTES) return reason;
  // The decoder drops a truncated character.
  return new TextDecoder().decode(bytes.subarray(0, REASON_BYTES), { stream: true });
}

/**
 * Closes a socket in the first way that its host allows. A page may send 1000 and 3000 to 4999 only, so the other codes
 * become 4000 plus their last three digits.
 */
function closeQuietly(socket: WebSocketLike, code?: number, reason?: string): void {
  const codes = code === undefined ? [undefined] : [code, 4000 + (code % 1000), undefined];
  for (const each of codes) {
    try {
      if (each === undefined) socket.close();
      else socket.close(each, reason);
      return;
    } catch {
      // The code is not allowed, or the socket is closed already.
    }
  }
}
