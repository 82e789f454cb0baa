import { connect, type Socket } from 'node:net';
import { afterTest } from './grpc-world.js';
import { callHeaders, http2Frame, PREFACE, TYPE } from './raw-http2.js';

/** A frame as it arrived. */
export interface ReceivedFrame {
  readonly type: number;
  readonly stream: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** The flags of frames (RFC 9113 §6). */
export const FLAG = { endStream: 1, endHeaders: 4, padded: 8 } as const;
/** Further types of frames, and those of answers. */
export const ANSWER = { data: 0, headers: 1, priority: 2, reset: 3, push: 5, goAway: 7, window: 8 } as const;

const HEAD_BYTES = 9;

/** A connection of HTTP/2 that writes frames byte by byte, and keeps the heads of those that arrive. */
export class RawConnection {
  readonly socket: Socket;
  readonly received: ReceivedFrame[] = [];
  readonly closed: Promise<void>;
  /** Calls that the server has ended. */
  ended = 0;
  readonly #keeps: boolean;
  #rest = Buffer.alloc(0);
  #onFrames = (): void => {};

  /** Without a preface the connection sends nothing by itself. `keeps`: frames that arrive are kept. */
  constructor(port: number, { preface = true, keeps = true, settings = Buffer.alloc(0) } = {} as RawConnectionOptions) {
    this.#keeps = keeps;
    this.socket = connect(port, '127.0.0.1').on('error', () => {});
    afterTest(() => this.socket.destroy());
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.on('data', (chunk: Buffer) => this.#read(chunk));
    if (preface) this.socket.write(Buffer.concat([PREFACE, http2Frame(TYPE.settings, 0, settings)]));
  }

  /** Writes a frame, even an invalid one. */
  write(type: number, stream: number, payload: Uint8Array = Buffer.alloc(0), flags = 0): boolean {
    return this.socket.destroyed ? false : this.socket.write(http2Frame(type, stream, payload, flags));
  }

  /** Begins a call. */
  begin(stream: number, { headers = {}, flags = FLAG.endHeaders } = {} as BegunCall): void {
    this.write(TYPE.headers, stream, headerBlock({ ...callHeaders('GetTask'), ...headers }), flags);
  }

  /** The frames of one type that have arrived. */
  frames(type: number): readonly ReceivedFrame[] {
    return this.received.filter((frame) => frame.type === type);
  }

  /** Resolves when the server has ended as many calls, or the connection. */
  async untilEnded(calls: number): Promise<void> {
    while (this.ended < calls && !this.socket.destroyed) {
      const more = new Promise<void>((resolve) => {
        this.#onFrames = resolve;
      });
      await Promise.race([more, this.closed]);
    }
  }

  /** Writes bytes again and again, as fast as the server reads them, until the connection ends. */
  async flood(bytes: Uint8Array): Promise<void> {
    const attack = () => {
      if (this.socket.destroyed) return;
      if (this.socket.write(bytes)) setImmediate(attack);
      else this.socket.once('drain', attack);
    };
    attack();
    await this.closed;
  }

  #read(chunk: Buffer): void {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + rest.readUIntBE(0, 3);
      if (rest.length < end) break;
      const [type = 0, flags = 0] = rest.subarray(3, 5);
      if (type === ANSWER.headers && (flags & FLAG.endStream) !== 0) this.ended += 1;
      const payload = Buffer.from(rest.subarray(HEAD_BYTES, end));
      if (this.#keeps) this.received.push({ type, flags, stream: rest.readUInt32BE(5), payload });
      rest = rest.subarray(end);
    }
    this.#rest = Buffer.from(rest);
    this.#onFrames();
  }
}

interface RawConnectionOptions {
  readonly preface?: boolean;
  readonly keeps?: boolean;
  /** The payload of the first settings. */
  readonly settings?: Uint8Array;
}

interface BegunCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly flags?: number;
}

/** Headers as literals without an index (RFC 7541 §6.2.2). Values have at most 126 bytes. */
export function headerBlock(headers: object): Buffer {
  const fields = Object.entries({ ':scheme': 'http', ':authority': 'localhost', ...headers }).map(([name, value]) =>
    literal(name, String(value)),
  );
  return Buffer.concat(fields);
}

/** One header as a literal. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

/** A setting of a client (RFC 9113 §6.5). */
export function encodeSetting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** A number of 32 bits, such as the increment of a window. */
export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}
