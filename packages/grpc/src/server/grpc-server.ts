import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Logger } from 'parley-a2a';
import { EqualTimers, LinkedList, retryHeaders, type ServerTls, WaitingMemory } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';
import type { Clock, LimitName } from 'parley-a2a/server';
import { errorTrailers, type Fields } from '../binding/grpc-trailers.js';
import { type ConnectionLimits, GrpcConnection } from './grpc-connection.js';
import { type GrpcHandler, GrpcStream, type GrpcStreamPorts } from './grpc-stream.js';

/** The options of a gRPC server. Times are in ms. */
interface GrpcServerOptions {
  /** Makes the handler of a call, by the path of its method. */
  readonly handlerOf: (stream: GrpcStream, connection: GrpcConnection) => GrpcHandler;
  readonly connection: ConnectionLimits;
  readonly maxConnections: number;
  /** Calls of all connections at the same time. */
  readonly maxCalls: number;
  readonly maxMetadataBytes: number;
  readonly maxMessageBytes: number;
  /** Maximum bytes of answers that the clients of all connections have not read. */
  readonly waitingBytes: number;
  readonly stallMs: number;
  readonly requestMs: number;
  /** Called for each call and connection that a limit refuses or ends. */
  readonly limitReached: (limit: LimitName, peer: string | undefined) => void;
  /** Absent: no TLS. */
  readonly tls?: ServerTls | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:;|$)/;
/** Memory per connection in MB, and per call for a piece of its answer. */
const SESSION_MEMORY_MB = 32;
const CALL_MEMORY_MB = 0.08;
/** Sockets that may wait to be accepted, if the system allows it. */
const BACKLOG = 4_096;
const LONGEST_CHECK_MS = 1_000;
const RETRY_MS = 1_000;
const TOO_MANY = refusal('maxStreams', 'Too many calls of this connection are still at work', RETRY_MS);
const TOO_MANY_OF_ALL = refusal('maxCalls', 'The server has too many calls. Try again later', RETRY_MS);
const TOO_LARGE = refusal('maxMetadataBytes', 'The metadata of the call is too large');

/** A server for gRPC over HTTP/2. Its handlers implement the services. */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #http2: Http2Server;
  readonly #sockets: Server;
  readonly #ports: GrpcStreamPorts;
  readonly #connections = new Map<ServerHttp2Session, GrpcConnection>();
  readonly #streams = new LinkedList<GrpcStream>();
  /** Calls that have sent only their headers, the oldest first. They are not authenticated. */
  readonly #silent = new LinkedList<GrpcStream>();
  readonly #waiting: WaitingMemory;
  #stopChecks: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  #changed: (() => void) | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    const { clock, requestMs } = options;
    this.#waiting = new WaitingMemory(options.waitingBytes);
    const requestTimers = new EqualTimers(clock, requestMs);
    this.#ports = { ...options, requestTimers, onBegin: this.#onCallBegun, onClose: this.#onCallClosed };
    this.#http2 = createServer({
      maxSessionMemory: SESSION_MEMORY_MB + CALL_MEMORY_MB * options.connection.maxStreams,
      settings: {
        maxConcurrentStreams: options.connection.maxStreams,
        maxHeaderListSize: options.maxMetadataBytes,
        enablePush: false,
      },
    });
    this.#http2.on('session', this.#onSession);
    this.#http2.on('stream', this.#onStream);
    this.#sockets =
      options.tls === undefined ? createNetServer({ noDelay: true }, this.#onSocket) : this.#secure(options.tls);
    this.#sockets.maxConnections = options.maxConnections;
    this.#sockets.on('drop', (dropped) => options.limitReached('maxConnections', dropped?.remoteAddress));
  }

  /** Resolves with the port when connections are accepted. Port 0 takes a free one. */
  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
    const sockets = this.#sockets;
    return new Promise((resolve, reject) => {
      sockets.once('error', reject);
      sockets.listen({ host, port, backlog: BACKLOG }, () => {
        sockets.off('error', reject);
        sockets.on('error', (error) => this.#options.logger.error('The gRPC server failed', { error }));
        this.#checkLater();
        resolve((sockets.address() as AddressInfo).port);
      });
    });
  }

  /** Serves only the connections that `take` gets. */
  start(): void {
    this.#checkLater();
  }

  /** Serves a connection of another server. */
  take(socket: Socket): void {
    if (this.#connections.size < this.#options.maxConnections) return this.#onSocket(socket);
    this.#options.limitReached('maxConnections', socket.remoteAddress);
    socket.destroy();
  }

  /** Accepts no more connections and calls. Running calls continue. */
  stopAccepting(): void {
    if (this.#closed !== undefined) return;
    this.#closed = new Promise((resolve) => this.#sockets.close(() => resolve()));
    for (const connection of this.#connections.values()) connection.goAway();
  }

  /** Lets calls finish for `graceMs`, ends streams between two events, then aborts the rest. */
  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    await this.#within(graceMs, () => this.#streams.size === 0 || this.#onlyEvents());
    for (const stream of this.#streams.values()) stream.stop();
    await this.#within(Math.min(graceMs, 1_000), () => this.#connections.size === 0);
    for (const connection of this.#connections.values()) connection.cut();
    this.#stopChecks?.();
    this.#stopWatching?.();
    await this.#closed;
  }

  #onlyEvents(): boolean {
    return this.#streams.values().every(({ hasBegun }) => hasBegun);
  }

  #secure(tls: ServerTls): Server {
    const { headersMs: handshakeTimeout } = this.#options.connection;
    const server = createTlsServer(
      { ...tls.options, ALPNProtocols: ['h2'], handshakeTimeout, noDelay: true },
      (socket) => {
        // A client must not replace its certificate on a connection, because it is parsed once.
        socket.disableRenegotiation();
        this.#onSocket(socket);
      },
    );
    server.once('listening', () => {
      this.#stopWatching = tls.watch((changed) => server.setSecureContext(changed));
    });
    return server;
  }

  readonly #onSocket = (socket: Socket): void => {
    this.#http2.emit('connection', socket);
  };

  readonly #onSession = (session: ServerHttp2Session): void => {
    const { clock, connection: limits, limitReached } = this.#options;
    const connection = new GrpcConnection({ session, limits, clock, waiting: this.#waiting, limitReached });
    this.#connections.set(session, connection);
    session.once('close', () => {
      this.#connections.delete(session);
      this.#waiting.forget(connection);
      this.#changed?.();
    });
    if (this.#closed !== undefined) connection.goAway();
  };

  readonly #onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _flags: number,
    rawHeaders: readonly string[] = [],
  ): void => {
    stream.on('error', ignore);
    const connection =
      stream.session === undefined ? undefined : this.#connections.get(stream.session as ServerHttp2Session);
    if (connection === undefined) return stream.close();
    const refusal = refusedStatus(headers);
    if (refusal !== undefined) return void stream.respond({ ':status': refusal }, { endStream: true });
    const call = new GrpcStream({ stream, headers, rawHeaders, connection, ports: this.#ports });
    call.place = this.#streams.add(call);
    const headerBytes = sizeOf(rawHeaders);
    if (!connection.begins(headerBytes)) {
      stream.once('close', () => connection.countReset());
      return this.#refuse(call, TOO_MANY);
    }
    if (headerBytes > this.#options.maxMetadataBytes) return this.#refuse(call, TOO_LARGE);
    if (this.#streams.size > this.#options.maxCalls && !this.#makeRoom()) return this.#refuse(call, TOO_MANY_OF_ALL);
    call.silentPlace = this.#silent.add(call);
    call.serve(this.#options.handlerOf(call, connection));
  };

  /** Ends the oldest call without a message. False if all calls have one. */
  #makeRoom(): boolean {
    const silent = this.#silent.first?.value;
    if (silent === undefined) return false;
    this.#onCallBegun(silent);
    this.#refuse(silent, TOO_MANY_OF_ALL);
    return true;
  }

  #refuse(call: GrpcStream, { limit, trailers, metadata }: Refusal): void {
    this.#options.limitReached(limit, call.peer);
    call.end(trailers, metadata);
  }

  readonly #onCallBegun = (call: GrpcStream): void => {
    if (call.silentPlace !== undefined) this.#silent.remove(call.silentPlace);
    call.silentPlace = undefined;
  };

  readonly #onCallClosed = (call: GrpcStream): void => {
    this.#onCallBegun(call);
    call.connection.endCall(!call.isAnswered);
    if (call.place !== undefined) this.#streams.remove(call.place);
    this.#changed?.();
  };

  #checkLater(): void {
    const { headersMs, idleMs, keepAliveMs, keepAliveTimeoutMs } = this.#options.connection;
    const every = Math.min(LONGEST_CHECK_MS, headersMs / 2, idleMs / 2, keepAliveMs / 2, keepAliveTimeoutMs / 2);
    const { clock } = this.#options;
    // A process that stood still first reads the bytes that have arrived meanwhile.
    this.#stopChecks = clock.after(every, () => {
      clock.soon(() => {
        for (const connection of this.#connections.values()) connection.check();
        for (const stream of this.#streams.values()) stream.check();
      });
      this.#checkLater();
    });
  }

  /** Waits until something holds, or for a time. */
  #within(ms: number, holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const finishWait = () => {
        stopTimer();
        this.#changed = undefined;
        resolve();
      };
      const stopTimer = this.#options.clock.after(ms, finishWait);
      const checkState = () => {
        if (holds()) finishWait();
      };
      this.#changed = checkState;
    });
  }
}

interface Refusal {
  readonly limit: LimitName;
  readonly trailers: Fields;
  readonly metadata: Fields;
}

/** The answer to a call that a limit refuses. Its version is not known yet, so the details are those of 1.0. */
function refusal(limit: LimitName, message: string, retryAfterMs?: number): Refusal {
  const details = { metadata: { limit }, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const error = new A2AError('RESOURCE_EXHAUSTED', message, details);
  return { limit, trailers: errorTrailers(error, { version: '1.0' }), metadata: retryHeaders(error) };
}

/** Every error is followed by the close of the stream, which is handled. */
function ignore(): void {}

/** The characters of all names and values. Node.js enforces only a limit of its own, 64 KiB. */
function sizeOf(rawHeaders: readonly string[]): number {
  let size = 0;
  for (const text of rawHeaders) size += text.length;
  return size;
}

/** The HTTP status for a request that is no call of gRPC. */
function refusedStatus(headers: IncomingHttpHeaders): number | undefined {
  if (headers[':method'] !== 'POST') return 405;
  return CONTENT_TYPE.test(headers['content-type'] ?? '') ? undefined : 415;
}
