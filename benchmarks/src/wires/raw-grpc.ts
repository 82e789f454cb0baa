import { connect, type Socket } from 'node:net';

// Frames of HTTP/2 (RFC 9113 §6), their flags, and two settings (§6.5.2).
const DATA = 0;
const HEADERS = 1;
const RESET = 3;
const SETTINGS = 4;
const PING = 6;
const GO_AWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const ENABLE_PUSH = 2;
const INITIAL_WINDOW = 4;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const HEAD_BYTES = 9;
const FIRST_WINDOW = 65_535;
const LARGEST_WINDOW = 2 ** 31 - 1;
const NO_BYTES = Buffer.alloc(0);

/** Headers that each call repeats, as `@grpc/grpc-js` sends them. */
const CALL_HEADERS = {
  te: 'trailers',
  'content-type': 'application/grpc',
  'user-agent': 'grpc-node-js/1.14.7',
  'grpc-accept-encoding': 'identity,deflate,gzip',
  'accept-encoding': 'identity',
  'a2a-version': '1.0',
};

interface OpenCall {
  /** The messages so far, or the bytes of one that has arrived in part. */
  messages: number;
  rest: Buffer;
  readonly check: (message: Buffer) => boolean;
  readonly resolve: (messages: number) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A connection for calls of one method of gRPC, of frames that are ready. A call costs it a fraction of the time of a
 * client, so that the server is what the load measures.
 */
export class RawGrpcConnection {
  readonly #socket: Socket;
  readonly #open = new Map<number, OpenCall>();
  /** The headers of the first call fill the table of HPACK. Those of later calls refer to it (RFC 7541 §6). */
  readonly #firstHeaders: Buffer;
  readonly #laterHeaders: Buffer;
  #streamId = 1;
  #waiting: Buffer[] = [];
  #rest: Buffer = NO_BYTES;
  #window = LARGEST_WINDOW;
  #failure: Error | undefined;

  constructor({ port, path }: { readonly port: number; readonly path: string }) {
    const fields = Object.entries({ ':path': path, ':authority': `127.0.0.1:${port}`, ...CALL_HEADERS });
    // The static table has `POST` at 3 and `http` at 6. The dynamic one begins at 62, with the newest entry.
    const known = Buffer.from([0x83, 0x86]);
    this.#firstHeaders = Buffer.concat([known, ...fields.map(([name, value]) => indexedLiteral(name, value))]);
    this.#laterHeaders = Buffer.concat([known, Buffer.from(fields.map((_, at) => 0x80 | (61 + fields.length - at)))]);
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')));
    const settings = Buffer.concat([setting(ENABLE_PUSH, 0), setting(INITIAL_WINDOW, LARGEST_WINDOW)]);
    this.#send(PREFACE);
    this.#send(frame(SETTINGS, { payload: settings }));
    this.#send(frame(WINDOW_UPDATE, { payload: word(LARGEST_WINDOW - FIRST_WINDOW) }));
  }

  /** Sends one message. Resolves with the number of messages of the answer, each checked. */
  call(message: Buffer, check: (message: Buffer) => boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      const stream = this.#streamId;
      this.#streamId += 2;
      this.#open.set(stream, { messages: 0, rest: NO_BYTES, check, resolve, reject });
      const payload = stream === 1 ? this.#firstHeaders : this.#laterHeaders;
      this.#send(frame(HEADERS, { stream, flags: END_HEADERS, payload }));
      const body = Buffer.concat([Buffer.from([0]), word(message.length), message]);
      this.#send(frame(DATA, { stream, flags: END_STREAM, payload: body }));
    });
  }

  /** Frames of one turn of the event loop share a write. */
  #send(bytes: Buffer): void {
    if (this.#waiting.length === 0)
      setImmediate(() => {
        const waiting = this.#waiting;
        this.#waiting = [];
        this.#socket.write(Buffer.concat(waiting));
      });
    this.#waiting.push(bytes);
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const begin = at + HEAD_BYTES;
      const end = begin + bytes.readUIntBE(at, 3);
      if (bytes.length < end) break;
      const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
      this.#take({ type, flags, stream: bytes.readUInt32BE(at + 5), payload: bytes.subarray(begin, end) });
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  #take({ type, flags, stream, payload }: { type: number; flags: number; stream: number; payload: Buffer }): void {
    if (type === GO_AWAY) this.#fail(new Error('the server says goodbye'));
    if (type === SETTINGS && (flags & ACK) === 0) this.#send(frame(SETTINGS, { flags: ACK }));
    if (type === PING && (flags & ACK) === 0) this.#send(frame(PING, { flags: ACK, payload: Buffer.from(payload) }));
    const call = this.#open.get(stream);
    if (type === DATA) this.#refill(payload.length);
    if (call === undefined) return;
    const fault = type === DATA ? takeMessages(call, payload) : undefined;
    const isEnd = (type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0;
    if (type !== RESET && fault === undefined && !isEnd) return;
    this.#open.delete(stream);
    if (fault !== undefined) call.reject(new Error(fault));
    else if (type === RESET) call.reject(new Error('the server reset the call'));
    else if (call.messages === 0) call.reject(new Error('the call ended without a message'));
    else call.resolve(call.messages);
  }

  /** Opens the window of the connection again. Those of calls are never used up. */
  #refill(bytes: number): void {
    this.#window -= bytes;
    if (this.#window > LARGEST_WINDOW / 2) return;
    this.#send(frame(WINDOW_UPDATE, { payload: word(LARGEST_WINDOW - this.#window) }));
    this.#window = LARGEST_WINDOW;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}

/** Counts the messages of an answer. The result names a message that is wrong. */
function takeMessages(call: OpenCall, payload: Buffer): string | undefined {
  const bytes = call.rest.length === 0 ? payload : Buffer.concat([call.rest, payload]);
  let at = 0;
  while (bytes.length - at >= 5) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    if (bytes.length < end) break;
    if (!call.check(bytes.subarray(at + 5, end))) return 'a message without the text expected';
    call.messages += 1;
    at = end;
  }
  call.rest = Buffer.from(bytes.subarray(at));
  return undefined;
}

function frame(
  type: number,
  { stream = 0, flags = 0, payload = NO_BYTES }: { stream?: number; flags?: number; payload?: Buffer },
): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that enters the table (RFC 7541 §6.2.1). Names and values have at most 126 bytes. */
function indexedLiteral(name: string, value: string): Buffer {
  const text = (characters: string) => [characters.length, ...Buffer.from(characters, 'latin1')];
  return Buffer.from([0x40, ...text(name), ...text(value)]);
}

function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([id >> 8, id & 0xff]), word(value)]);
}

function word(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
