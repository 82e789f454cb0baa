import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';

/** The kinds of frames (RFC 6455 §5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** The parts of a frame that a test may choose against the rules. */
export interface FrameRules {
  readonly isLast?: boolean;
  readonly isMasked?: boolean;
  /** The reserved bits, from 0 to 7. */
  readonly reserved?: number;
  /** The length that the frame announces. Default: that of its payload. */
  readonly length?: number;
}

/** Returns a WebSocket frame, even an invalid one. Its mask is zero. */
export function webSocketFrame(opcode: number, payload: string | Uint8Array = '', rules: FrameRules = {}): Buffer {
  const bytes = Buffer.from(payload as string);
  const { isLast = true, isMasked = true, reserved = 0, length = bytes.length } = rules;
  const mask = isMasked ? 0x80 : 0;
  const head = Buffer.alloc(10);
  head[0] = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = mask | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (length >= 65_536) head.writeBigUInt64BE(BigInt(length), 2);
  else if (length >= 126) head.writeUInt16BE(length, 2);
  const headBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  return Buffer.concat([head.subarray(0, headBytes), Buffer.alloc(isMasked ? 4 : 0), bytes]);
}

/** A WebSocket client that writes raw bytes. */
export class RawWebSocket {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  /** Messages of the server, parsed. */
  readonly messages: (readonly unknown[])[] = [];
  /** The code of the close frame of the server. */
  code: number | undefined;
  /** The status of the answer to the upgrade. */
  status = 0;
  #rest = Buffer.alloc(0) as Buffer;
  #arrived = (): void => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {}).on('data', (chunk) => this.#read(chunk));
    onTestFinished(() => void socket.destroy());
  }

  /** Requests a WebSocket. `early` is sent right after the request, before the answer. */
  static async open(address: string, early: Uint8Array = Buffer.alloc(0)): Promise<RawWebSocket> {
    const { port, pathname, host } = new URL(address);
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    const raw = new RawWebSocket(socket);
    await once(socket, 'connect');
    const key = Buffer.alloc(16).toString('base64');
    const head = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`;
    const request = `${head}Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(request), early]));
    await raw.until(() => raw.status !== 0);
    return raw;
  }

  /** Writes a frame. False: the system takes no more now. */
  frame(opcode: number, payload: string | Uint8Array = '', rules: FrameRules = {}): boolean {
    return !this.socket.destroyed && this.socket.write(webSocketFrame(opcode, payload, rules));
  }

  /** Resolves when the system takes more bytes, or the connection is over. */
  room(): Promise<void> {
    const drained = new Promise<void>((resolve) => this.socket.once('drain', () => resolve()));
    return Promise.race([drained, this.closed]);
  }

  /** Writes messages of Cap'n Web. */
  send(...messages: readonly unknown[]): void {
    for (const message of messages) this.frame(OPCODE.text, JSON.stringify(message));
  }

  /** Authenticates without a credential. The result of this first call is the agent. */
  async authenticateSession(): Promise<this> {
    this.send(['push', ['pipeline', 0, ['authenticate'], [{ parameters: { 'A2A-Version': '1.0' } }]]], ['pull', 1]);
    await this.until(() => this.messages.some(([, id]) => id === 1));
    return this;
  }

  /** Resolves when something holds, or the connection is over. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.socket.destroyed) {
      const more = new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
      await Promise.race([more, this.closed]);
    }
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    if (this.status === 0) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.status = Number(/^HTTP\/1.1 (\d+)/.exec(this.#rest.toString('latin1', 0, end))?.[1]);
      this.#rest = this.#rest.subarray(end + 4);
    }
    if (this.status === 101) this.#frames();
    this.#arrived();
  }

  #frames(): void {
    for (;;) {
      const [first = 0, second = 0] = this.#rest;
      const headBytes = second < 126 ? 2 : second === 126 ? 4 : 10;
      if (this.#rest.length < headBytes) return;
      const length =
        second < 126 ? second : second === 126 ? this.#rest.readUInt16BE(2) : Number(this.#rest.readBigUInt64BE(2));
      if (this.#rest.length < headBytes + length) return;
      const payload = this.#rest.subarray(headBytes, headBytes + length);
      this.#rest = this.#rest.subarray(headBytes + length);
      const opcode = first & 15;
      if (opcode === OPCODE.text) this.messages.push(JSON.parse(payload.toString()) as unknown[]);
      else if (opcode === OPCODE.close) this.code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
    }
  }
}

/** The frame of a call. */
export const PING = ['push', ['pipeline', 0, ['ping'], []]];

/** Expects that a new session works. */
export async function expectUp(socketUrl: string): Promise<void> {
  const other = await RawWebSocket.open(socketUrl);
  other.send(PING, ['pull', 1]);
  await other.until(() => other.messages.length > 0);
  expect(other.messages).toEqual([['resolve', 1, 'pong']]);
  other.socket.destroy();
}
