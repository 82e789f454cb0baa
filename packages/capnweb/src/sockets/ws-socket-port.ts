import type { Socket } from 'node:net';
import type { Logger } from 'parley-a2a';
import type { SocketPort, SocketReceiver } from 'parley-a2a/binding-kit';
import type { Clock } from 'parley-a2a/server';
import type { RawData, WebSocket } from 'ws';

/** A WebSocket of the package `ws`, and its connection. */
export interface WsSocketPortOptions {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Messages of one tick up to this size are written together. Longer ones are written at once. */
const SHORT_BYTES = 4096;
/** Bytes of joined messages that are written before the end of the tick. */
const CORKED_BYTES = 65_536;
/** Bytes that wait for the peer, beyond which pings are not answered. */
const PONG_BYTES = 65_536;
/** Time limit for a peer to end a connection that one side has closed, in ms. */
export const CLOSE_MS = 2_000;
const BINARY = { code: 1003, reason: 'Only text messages are read' };
const TOO_BIG = { code: 1009, reason: 'The message is too large' };

/** A WebSocket of a node:http server. */
export class WsSocketPort implements SocketPort {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #receiver: SocketReceiver | undefined;
  #corkedBytes = 0;
  #isCorked = false;
  #limit = Number.POSITIVE_INFINITY;
  /** Number of bytes read from the connection at the end of the last message. */
  #readBefore: number;
  #end: { readonly code: number; readonly reason: string } | undefined;

  constructor({ webSocket, socket, clock, logger }: WsSocketPortOptions) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#clock = clock;
    this.#logger = logger;
    this.#readBefore = socket.bytesRead;
    webSocket.on('message', (data, isBinary) => this.#receiveMessage(data, isBinary));
    webSocket.on('ping', (data) => {
      if (webSocket.bufferedAmount < PONG_BYTES) webSocket.pong(data);
    });
    webSocket.on('pong', () => this.#receiver?.pong());
    webSocket.on('error', (error) => this.#logger.debug('A WebSocket failed', { error }));
    webSocket.on('close', (code, reason) => this.#handleClose(code, reason.toString()));
    // Bounds a fragmented message before it is complete.
    socket.on('data', () => this.#checkLength());
  }

  get bufferedAmount(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(text: string): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    if (text.length < SHORT_BYTES && !this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      this.#clock.soon(() => this.#uncork());
    }
    this.#webSocket.send(text);
    this.#corkedBytes += text.length;
    if (this.#corkedBytes >= CORKED_BYTES || text.length >= SHORT_BYTES) this.#uncork();
  }

  close(code: number, reason: string): void {
    this.#uncork();
    this.#webSocket.close(code, reason);
    const stopTimer = this.#clock.after(CLOSE_MS, () => this.#webSocket.terminate());
    this.#socket.once('close', stopTimer);
    // The close frame of the peer comes after bytes that are not read yet.
    this.#webSocket.resume();
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  ping(): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping();
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  limitMessages(bytes: number): void {
    this.#limit = bytes;
  }

  receive(receiver: SocketReceiver): void {
    this.#receiver = receiver;
    if (this.#end !== undefined) receiver.closed(this.#end.code, this.#end.reason);
  }

  #receiveMessage(data: RawData, isBinary: boolean): void {
    this.#readBefore = this.#socket.bytesRead;
    if (isBinary) this.close(BINARY.code, BINARY.reason);
    else this.#receiver?.message((data as Buffer).toString());
  }

  #checkLength(): void {
    const bytes = this.#socket.bytesRead - this.#readBefore;
    if (bytes <= 2 * this.#limit) return this.#receiver?.arriving?.(bytes);
    this.#limit = Number.POSITIVE_INFINITY;
    this.close(TOO_BIG.code, TOO_BIG.reason);
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#corkedBytes = 0;
    this.#socket.uncork();
  }

  #handleClose(code: number, reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = { code, reason };
    this.#receiver?.closed(code, reason);
  }
}
