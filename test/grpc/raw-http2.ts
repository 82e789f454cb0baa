import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionOptions,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { afterTest, FILES } from './grpc-world.js';

/** The first bytes of a client of HTTP/2. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
/** Types of frames (RFC 9113 §6). */
export const TYPE = { headers: 1, settings: 4, ping: 6, continuation: 9 } as const;
/** The flag of an answer. */
export const ACK = 1;

/** Returns an HTTP/2 frame, even an invalid one. */
export function http2Frame(type: number, stream: number, payload: Uint8Array = Buffer.alloc(0), flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The end of a call in the received frames. */
export interface RawAnswer {
  readonly headers: Readonly<Record<string, unknown>>;
  /** `grpc-status`, from headers or trailers. */
  readonly status: number | undefined;
  readonly message: string;
  readonly bytes: number;
  /** The code of RST_STREAM; 0 for a regular end. */
  readonly reset: number;
}

/** An HTTP/2 connection that follows no rules of gRPC. */
export function rawSession(port: number): ClientHttp2Session {
  // Allows a header twice that must have one value. The types do not know the option.
  const options = { strictSingleValueFields: false } as ClientSessionOptions;
  const session = connect(`http://127.0.0.1:${port}`, options);
  session.on('error', () => {});
  afterTest(() => session.destroy());
  return session;
}

/** The headers of a call. */
export function callHeaders(method = 'SendMessage', more: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  return {
    ':method': 'POST',
    ':path': `/lf.a2a.v1.A2AService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
  };
}

/** A message with its prefix. */
export function frame(message: Uint8Array, { flag = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** The bytes of a SendMessageRequest. */
export function sendMessageBytes(text: string): Uint8Array {
  const method = FILES.current.services[0]?.methods.find(({ name }) => name === 'SendMessage');
  if (method === undefined) throw new Error('no method');
  const json: JsonValue = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } };
  return toBinary(method.input, fromJson(method.input, json));
}

/** Sends chunks on a new stream and ends it, unless `open`. */
export function rawCall(
  session: ClientHttp2Session,
  chunks: readonly Uint8Array[],
  { headers = callHeaders(), open = false }: { readonly headers?: OutgoingHttpHeaders; readonly open?: boolean } = {},
): ClientHttp2Stream {
  const stream = session.request(headers);
  stream.on('error', () => {});
  for (const chunk of chunks) stream.write(chunk);
  if (!open) stream.end();
  return stream;
}

/** Waits for the end of a call. */
export function answerOf(stream: ClientHttp2Stream): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let trailers: Record<string, unknown> = {};
    let bytes = 0;
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('trailers', (received) => {
      trailers = received;
    });
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    stream.once('close', () => {
      const status = trailers['grpc-status'] ?? headers['grpc-status'];
      const message = trailers['grpc-message'] ?? headers['grpc-message'] ?? '';
      resolve({
        headers,
        status: status === undefined ? undefined : Number(status),
        message: decodeURIComponent(String(message)),
        bytes,
        reset: stream.rstCode ?? constants.NGHTTP2_NO_ERROR,
      });
    });
  });
}

/** Resolves when a connection is over, with the code of GOAWAY if there was one. */
export function endOf(session: ClientHttp2Session): Promise<number | undefined> {
  return new Promise((resolve) => {
    let code: number | undefined;
    session.once('goaway', (received) => {
      code = received;
    });
    if (session.destroyed) resolve(code);
    session.once('close', () => resolve(code));
  });
}
