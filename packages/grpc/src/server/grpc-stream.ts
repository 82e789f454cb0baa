import { constants, type IncomingHttpHeaders, type ServerHttp2Stream, sensitiveHeaders } from 'node:http2';
import type { Logger } from 'parley-a2a';
import type { BodyMeter, ClientCertificate, EqualTimers, Place, RunningTimer } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { frameMessages, MessageReader, timeoutMs } from '../binding/grpc-message.js';
import type { GrpcSource } from '../binding/grpc-request.js';
import { GRPC_STATUS } from '../binding/grpc-status.js';
import { type Fields, plainTrailers } from '../binding/grpc-trailers.js';
import type { GrpcConnection } from './grpc-connection.js';
import { CODINGS, decompressMessage, tooLarge } from './message-compression.js';

/** The ports and limits that all calls of a server share. */
export interface GrpcStreamPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The timers for messages that arrive slowly. */
  readonly requestTimers: EqualTimers;
  readonly maxMessageBytes: number;
  /** Time in ms after which a client that reads nothing is dropped. */
  readonly stallMs: number;
  /** Called when the handler of a call starts: a message, or a part of one, has arrived. */
  readonly onBegin: (call: GrpcStream) => void;
  /** Called when the HTTP/2 stream of a call is closed. */
  readonly onClose: (call: GrpcStream) => void;
}

/** A call on an HTTP/2 stream. */
interface GrpcStreamOptions {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly connection: GrpcConnection;
  readonly ports: GrpcStreamPorts;
}

/** The handler of a call. */
export interface GrpcHandler {
  /** True if the handler starts before a message has arrived. */
  readonly isEarly?: boolean;
  /** Starts the call. Without a message, `readMessage` returns it: it is large, compressed or still arriving. */
  ready(message: Uint8Array | undefined): void;
  /** Called once, when the call is answered, canceled, or out of time. */
  over(): void;
  /** Ends a stream of events, because the server closes. */
  stop(): void;
}

interface WaitingReader {
  readonly limit: number;
  readonly meter: BodyMeter | undefined;
  resolve(message: Uint8Array | Promise<Uint8Array>): void;
  reject(error: unknown): void;
}

/** The key of a stream's call, removed at its close. Node.js keeps closed streams until a full garbage collection. */
const CALL = Symbol('call');

interface CallStream extends ServerHttp2Stream {
  [CALL]?: GrpcStream | undefined;
}

function onData(this: CallStream, chunk: Buffer): void {
  this[CALL]?.take(chunk);
}

function onEnd(this: CallStream): void {
  this[CALL]?.endRequest();
}

function onWantTrailers(this: CallStream): void {
  this.sendTrailers(this[CALL]?.trailers ?? OK);
}

function onClose(this: CallStream): void {
  this[CALL]?.closeStream();
  this[CALL] = undefined;
}

/** Maximum bytes of one write. A client that reads one write in time counts as reading. */
const WRITE_BYTES = 65_536;
const RESPONSE = Object.freeze({
  ':status': 200,
  'content-type': 'application/grpc+proto',
  // Each answer has another id, which would cost time in the HPACK table, and evict repeated entries.
  [sensitiveHeaders]: ['x-request-id'],
});
const READABLE_CODINGS: Fields = Object.freeze({ 'grpc-accept-encoding': CODINGS.join(',') });
const OK: Fields = Object.freeze({ 'grpc-status': '0' });
// gRPC clients do not read the date.
const WITH_TRAILERS = Object.freeze({ waitForTrailers: true, sendDate: false });
const TRAILERS_ONLY = Object.freeze({ endStream: true, sendDate: false });

/** The server side of one call: reads its message, and writes metadata, messages and trailers. */
export class GrpcStream implements GrpcSource {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly connection: GrpcConnection;
  /** The place among the calls of the server. */
  place: Place<GrpcStream> | undefined;
  /** The place among the calls that have sent only their head. */
  silentPlace: Place<GrpcStream> | undefined;
  /** The status after the last message. */
  trailers = OK;
  readonly #stream: CallStream;
  readonly #ports: GrpcStreamPorts;
  readonly #reader = new MessageReader();
  #handler: GrpcHandler | undefined;
  #isHandedOver = false;
  #waiting: WaitingReader | undefined;
  #controller: AbortController | undefined;
  #stopDeadline: (() => void) | undefined;
  #requestTimer: RunningTimer | undefined;
  #unblock: (() => void) | undefined;
  #moreArrived: (() => void) | undefined;
  /** True if the client has sent everything. */
  #isReceived = false;
  #hasBegun = false;
  /** True if the answer is complete. */
  #isAnswered = false;
  #isOver = false;
  /** Bytes of the answer that the client has not read. */
  #unread = 0;
  /** The time when a check first found the end of the answer unread. */
  #untakenSince: number | undefined;

  constructor({ stream, headers, rawHeaders, connection, ports }: GrpcStreamOptions) {
    this.#stream = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.connection = connection;
    this.#ports = ports;
    this.#stream[CALL] = this;
    stream.on('close', onClose);
  }

  get peer(): string | undefined {
    return this.connection.peer;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.connection.clientCertificate;
  }

  /** Aborted when the call ends before its answer: the client is gone, or the deadline has passed. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isOver && !this.#isAnswered) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** The path of the method. */
  get path(): string {
    return String(this.headers[':path']);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs a handler with the message of the call, within the deadline of the client. */
  serve(handler: GrpcHandler): void {
    this.#handler = handler;
    const timeout = this.headers['grpc-timeout'];
    if (timeout !== undefined && !this.#setDeadline(String(timeout))) return;
    const coding = this.headers['grpc-encoding'];
    if (coding !== undefined && !CODINGS.includes(String(coding))) {
      const told = `The server reads messages in these encodings: ${CODINGS.join(', ')}`;
      return this.end(plainTrailers(GRPC_STATUS.UNIMPLEMENTED, told), READABLE_CODINGS);
    }
    this.#requestTimer = this.#ports.requestTimers.start(() =>
      this.#giveUp('The message of the call did not arrive in time', 'requestMs'),
    );
    this.#stream.on('data', onData);
    this.#stream.on('end', onEnd);
    if (handler.isEarly !== true) return;
    this.#stream.pause();
    this.#handOver(undefined);
  }

  /** The message of the call, up to a limit. Rejects with an A2AError. */
  readMessage(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting = { limit: Math.min(limit, this.#ports.maxMessageBytes), meter, resolve, reject };
      if (this.#isOver) return this.#failReading(cutOff());
      this.#advance();
      if (this.#waiting !== undefined) this.#stream.resume();
    });
  }

  /** The messages of a call that sends several, one at a time. Throws for a message beyond the limit. */
  async *messages(limit: number): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      const { isWhole, isCompressed, length } = this.#reader;
      if (isCompressed || (length !== undefined && length > limit)) throw tooLarge(limit);
      if (isWhole) yield this.#reader.next();
      else if (this.#isReceived || this.#isOver) return undefined;
      else await this.#moreData();
    }
  }

  #moreData(): Promise<void> {
    return new Promise((resolve) => {
      this.#moreArrived = resolve;
      this.#stream.resume();
    });
  }

  /** Answers with one message. */
  answer(message: Uint8Array, metadata: Fields): void {
    if (!this.begin(metadata)) return;
    this.#isAnswered = true;
    const bytes = frameMessages([message]);
    if (bytes.length <= WRITE_BYTES) {
      this.#stream.end(bytes);
      this.#waits(bytes.length);
    } else void this.#writePieces(bytes).then(() => this.#stream.end());
    this.#closeSoon();
  }

  /** Begins the answer. False: the call is over. */
  begin(metadata: Fields): boolean {
    if (this.#isOver || this.#hasBegun || this.#isAnswered || this.#stream.closed) return false;
    this.#hasBegun = true;
    this.#stream.on('wantTrailers', onWantTrailers);
    this.#stream.respond({ ...RESPONSE, ...metadata }, WITH_TRAILERS);
    this.connection.sends();
    return true;
  }

  /** Sends messages. The returned promise resolves when the client can take more; absent: at once. */
  write(...messages: readonly Uint8Array[]): Promise<void> | undefined {
    if (this.#isOver || this.#isAnswered) return undefined;
    this.connection.sends();
    const bytes = frameMessages(messages);
    if (bytes.length > WRITE_BYTES) return this.#writePieces(bytes);
    if (this.#stream.write(bytes)) return undefined;
    this.#waits(bytes.length);
    return this.#room().then(() => this.#waits(-bytes.length));
  }

  async #writePieces(bytes: Buffer): Promise<void> {
    this.#waits(bytes.length);
    for (let at = 0; at < bytes.length && this.#stream.writable; at += WRITE_BYTES) {
      const piece = bytes.subarray(at, at + WRITE_BYTES);
      if (!this.#stream.write(piece)) await this.#room();
      this.#waits(-piece.length);
    }
  }

  /** Counts bytes that the client has not read. The rest is subtracted when the stream ends. */
  #waits(delta: number): void {
    if (this.#isOver) return;
    this.#unread += delta;
    this.connection.waits(delta);
  }

  /** Drops a client that does not read the end of its answer. Called periodically. */
  check(): void {
    if (!this.#stream.writableEnded || this.#stream.closed) return;
    const { clock, stallMs } = this.#ports;
    const now = clock.monotonic();
    this.#untakenSince ??= now;
    if (now - this.#untakenSince > stallMs) this.#drop();
  }

  /** Ends the call with its status. */
  end(trailers: Fields = OK, metadata?: Fields): void {
    if (this.#isOver || this.#isAnswered) return;
    this.#isAnswered = true;
    this.#unblock?.();
    if (this.#stream.closed) return;
    if (this.#hasBegun) {
      this.trailers = trailers;
      this.#stream.end();
    } else {
      this.#stream.respond({ ...RESPONSE, ...metadata, ...trailers }, TRAILERS_ONLY);
    }
    this.connection.sends();
    this.#closeSoon();
  }

  /** Ends a stream of events, because the server closes. Other calls continue. */
  stop(): void {
    this.#handler?.stop();
  }

  /** True if the answer is complete. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** The HTTP/2 stream is closed. */
  closeStream(): void {
    if (!this.#isOver) this.#finish();
    this.#ports.onClose(this);
  }

  /** Drops the call without an answer. */
  cut(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Asks a client that is still sending to stop (RFC 9113 §8.1). */
  #closeSoon(): void {
    if (this.#isReceived) return;
    const stream = this.#stream;
    stream.resume();
    if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR);
    else stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
  }

  /** Bytes of the client have arrived. */
  take(chunk: Buffer): void {
    if (this.#isAnswered || this.#isOver) return;
    this.connection.takes(chunk.length);
    this.#reader.push(chunk);
    if (this.#isHandedOver) {
      if (this.#waiting === undefined) this.#stream.pause();
      this.#look();
      return;
    }
    const { isWhole, isCompressed, hasMore, length = 0 } = this.#reader;
    if (isWhole && !isCompressed && !hasMore && length <= this.#ports.maxMessageBytes) return;
    // The gate decides before the server reads more.
    this.#stream.pause();
    this.#handOver(undefined);
  }

  /** The client has sent everything. */
  endRequest(): void {
    this.#isReceived = true;
    this.#stopRequestTimer();
    if (this.#isAnswered || this.#isOver) return;
    if (this.#isHandedOver) return this.#look();
    this.#handOver(this.#reader.isWhole ? this.#reader.take() : undefined);
  }

  #look(): void {
    const more = this.#moreArrived;
    this.#moreArrived = undefined;
    more?.();
    this.#advance();
  }

  #handOver(message: Uint8Array | undefined): void {
    this.#isHandedOver = true;
    this.#ports.onBegin(this);
    this.#handler?.ready(message);
  }

  /** Checks the received bytes for the reader of the message. */
  #advance(): void {
    const { limit, meter, resolve } = this.#waiting ?? {};
    if (limit === undefined || resolve === undefined) return;
    const { length, received, hasMore, isWhole, isCompressed } = this.#reader;
    if (length !== undefined && length > limit) return this.#failReading(tooLarge(limit));
    if (hasMore) return this.#failReading(new A2AError('INVALID_REQUEST', 'The call has more than one message'));
    const pause = meter?.(received);
    if (pause !== undefined) {
      this.#stream.pause();
      pause.then(
        () => this.#stream.resume(),
        (error: unknown) => this.#failReading(error),
      );
      return;
    }
    if (!this.#isReceived) return;
    if (!isWhole) return this.#failReading(cutOff());
    this.#waiting = undefined;
    const bytes = this.#reader.take();
    resolve(isCompressed ? decompressMessage(bytes, { coding: this.headers['grpc-encoding'], limit, meter }) : bytes);
  }

  #failReading(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }

  /** Creating an error costs more than most of a call, so only a waiting reader gets one. */
  #stopReading(): void {
    if (this.#waiting !== undefined) this.#failReading(cutOff());
  }

  /** Starts the deadline. False if the timeout is malformed, and the call is refused. */
  #setDeadline(text: string): boolean {
    const ms = timeoutMs(text);
    if (ms === undefined) {
      this.end(
        plainTrailers(GRPC_STATUS.INVALID_ARGUMENT, 'grpc-timeout must be a number of at most 8 digits and a unit'),
      );
      return false;
    }
    this.#stopDeadline = this.#ports.clock.after(ms, () => {
      this.#giveUp('The deadline of the client has passed');
    });
    return true;
  }

  #stopRequestTimer(): void {
    if (this.#requestTimer !== undefined) this.#ports.requestTimers.stop(this.#requestTimer);
    this.#requestTimer = undefined;
  }

  /** Ends the call before its answer. The task continues. */
  #giveUp(told: string, limit?: 'requestMs'): void {
    if (this.#isAnswered || this.#isOver) return;
    if (limit !== undefined) this.connection.isLate(limit);
    this.end(plainTrailers(GRPC_STATUS.DEADLINE_EXCEEDED, told));
    this.#controller?.abort();
    this.#stopReading();
    this.#callHandlerOver();
  }

  /** Waits until the client can take more, or drops it. */
  #room(): Promise<void> {
    return new Promise((resolve) => {
      const { clock, stallMs } = this.#ports;
      const stopTimer = clock.after(stallMs, () => this.#drop());
      const unblock = () => {
        this.#unblock = undefined;
        this.#stream.off('drain', unblock);
        stopTimer();
        resolve();
      };
      this.#unblock = unblock;
      this.#stream.on('drain', unblock);
    });
  }

  #drop(): void {
    const { logger, stallMs } = this.#ports;
    logger.warn('A peer that reads nothing was dropped', { stallMs });
    this.connection.isLate('stallMs');
    this.cut();
  }

  #finish(): void {
    if (this.#unread > 0) this.#waits(-this.#unread);
    this.#isOver = true;
    this.#stopDeadline?.();
    this.#stopRequestTimer();
    this.#unblock?.();
    this.#stopReading();
    this.#moreArrived?.();
    if (!this.#isAnswered) this.#controller?.abort();
    this.#callHandlerOver();
  }

  #callHandlerOver(): void {
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.over();
  }
}

function cutOff(): A2AError {
  return new A2AError('INVALID_REQUEST', 'The message of the call is not whole');
}
