import type { ServerOptions as HttpSettings, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorAnswer } from '../../app/json-answer.js';
import { DEFAULT_HTTP_TIMES, type HttpServerTimes } from '../../app/options/server-options.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import { LinkedList, type Place } from '../../runtime/linked-list.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import { closeGently, sendEarly, sendRaw, sendWhole } from './answer.js';
import { NodeExchangeRequest } from './node-exchange-request.js';
import { PipelineLimit } from './pipeline-limit.js';
import {
  CUT_OFF,
  isMalformed,
  malformedRequest,
  refusalOf,
  TIMED_OUT,
  TLS_TIMED_OUT,
  TOO_MANY_LINES,
} from './refused-request.js';
import { Responder, type RespondingCall } from './responder.js';
import type { ResponseStream } from './response-stream.js';
import type { ServerTls } from './server-tls.js';
import type { UpgradedSockets, UpgradedSocketsOptions } from './upgraded-sockets.js';

/** The options of an HTTP server. */
export interface HttpServerOptions extends HttpServerTimes {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly logger: Logger;
  /** True if some endpoints bound the time of bodies that they stream. `requestMs` holds for all others. */
  readonly takesLongBodies?: boolean;
  /** Absent: plain HTTP. */
  readonly tls?: ServerTls | undefined;
  /** Takes connections of HTTP/2. Absent: the server answers them with an error. */
  readonly takeHttp2?: ((socket: Socket) => void) | undefined;
  /** Answers the handshakes of WebSockets. Absent: the server ignores requests for them. */
  readonly acceptWebSocket?: UpgradedSocketsOptions['acceptWebSocket'] | undefined;
  /** Called for each request and connection that a limit of connections refuses or ends. */
  readonly limitReached?: (reached: ReachedLimit) => void;
  /** Called with the status of each answer that the server gives in the place of the exchange. */
  readonly refused?: (status: number) => void;
}

const TIMES = DEFAULT_HTTP_TIMES;
const NO_PROXY = errorAnswer({ status: 501, message: 'This server is no proxy' });
/** Connections that may wait to be accepted, if the system allows it. A short pause refuses no client. */
const BACKLOG = 4_096;
const TOO_MANY = errorAnswer({ status: 429, message: 'Too many requests on this connection wait for their answers' });

/**
 * A static import of `node:http` would evaluate all of its exports, including its HTTP client: a tenth of the start
 * time of a server.
 */
const { createServer } = process.getBuiltinModule('node:http');

/** A request that this server answers. */
interface ServedCall extends RespondingCall {
  readonly place: Place<ServerResponse>;
}

/** The address of a listening server. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** The interval at which a closing server checks for connections without a request. */
const LOOK_MS = 10;

/** A node:http server in front of an exchange. */
export class HttpServer {
  readonly #server: Server;
  readonly #options: HttpServerOptions;
  readonly #responder: Responder<ServedCall>;
  readonly #streams = new LinkedList<ResponseStream>();
  /** Requests that are being answered. */
  readonly #calls = new LinkedList<ServerResponse>();
  readonly #callDone = ({ place }: ServedCall): void => {
    this.#calls.remove(place);
    if (this.#closed && this.#calls.size === 0) this.#idle?.();
  };
  readonly #pipelines = new PipelineLimit();
  /** All connections of a server with TLS or a shared port: Node.js closes only those that have begun HTTP. */
  readonly #accepted = new Set<Socket>();
  #sockets: UpgradedSockets | undefined;
  #isShared = false;
  /** Connections with a parse error, on which no later bytes can be read. */
  readonly #broken = new WeakSet<Socket>();
  /** Resolves when the last connection is closed; set once no new ones are accepted. */
  #closed: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#responder = new Responder<ServedCall>({
      ...options,
      streams: this.#streams,
      done: this.#callDone,
    });
    const settings = {
      keepAliveTimeout: options.keepAliveMs ?? TIMES.keepAliveMs,
      headersTimeout: options.headersMs ?? TIMES.headersMs,
      // Node.js has one timeout for all requests: without it, each request has a timer of its own.
      requestTimeout: options.takesLongBodies === true ? 0 : (options.requestMs ?? TIMES.requestMs),
      connectionsCheckingInterval: Math.min(5_000, options.headersMs ?? TIMES.headersMs),
      joinDuplicateHeaders: true,
      // Checked in `refusalOf` instead, whose answer gives the reason.
      requireHostHeader: false,
    };
    this.#server = options.tls === undefined ? createServer(settings) : this.#secureServer(options.tls, settings);
    // A server may ignore all expectations except for `100-continue` (RFC 9110 §10.1.1).
    const serve = this.#serving(false);
    this.#server.on('request', serve).on('checkExpectation', serve);
    this.#server.on('checkContinue', this.#serving(true));
    const connection = options.tls === undefined ? 'connection' : 'secureConnection';
    this.#server.on(connection, (socket: Socket) => closeGently(socket, options.clock));
    this.#server.on('connect', (_incoming, socket: Socket) => {
      const { clock, refused } = options;
      socket.on('error', () => {}).resume();
      sendRaw({ socket, answer: NO_PROXY, clock, refused });
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#onMalformed(error, socket));
  }

  /** Hands connections of HTTP/2 to `takeHttp2`, if that option is set. Only such servers load the code. */
  async sharePort(): Promise<void> {
    const { takeHttp2, clock, headersMs = TIMES.headersMs, limitReached, tls } = this.#options;
    if (takeHttp2 === undefined || this.#isShared) return;
    const { sharePort } = await import('./shared-port.js');
    this.#isShared = true;
    const event = tls === undefined ? 'connection' : 'secureConnection';
    const isLate = ({ remoteAddress: caller }: Socket) => limitReached?.({ limit: 'headersMs', caller });
    sharePort({ server: this.#server, event, takeHttp2, firstBytesMs: headersMs, isLate, clock });
    if (tls === undefined) this.#server.on('connection', this.#accept);
  }

  /** Resolves when connections are accepted. `port` 0 takes a free one. */
  listen({ host, port }: BoundAddress): Promise<BoundAddress> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#options.logger.error('The HTTP server failed', { error }));
        const address = this.#server.address() as AddressInfo;
        resolve({ host: address.address, port: address.port });
      });
    });
  }

  /** Accepts WebSockets, if that option is set. Only servers with a binding over WebSockets load the code. */
  async takeWebSockets(): Promise<void> {
    const { acceptWebSocket } = this.#options;
    if (acceptWebSocket === undefined || this.#sockets !== undefined) return;
    const { isWebSocket, UpgradedSockets, withoutUpgrade } = await import('./upgraded-sockets.js');
    const sockets = new UpgradedSockets({ ...this.#options, acceptWebSocket });
    this.#sockets = sockets;
    const connection = this.#options.tls === undefined ? 'connection' : 'secureConnection';
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      if (isWebSocket(incoming)) sockets.take(incoming, socket, head);
      else this.#server.emit(connection, withoutUpgrade(incoming, socket, head));
    });
  }

  /** Accepts no more connections. Open connections stay until they have sent their answers. */
  stopAccepting(): void {
    this.#responder.isClosing = true;
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /**
   * Waits at most `ms` for requests on accepted connections. Idle connections are closed. WebSockets are not waited
   * for, because they carry no further requests.
   */
  async awaitRequests(ms: number): Promise<void> {
    const { clock } = this.#options;
    const count = () => new Promise<number>((resolve) => this.#server.getConnections((_, open = 0) => resolve(open)));
    const end = clock.monotonic() + ms;
    while ((await count()) > this.#calls.size + (this.#sockets?.size ?? 0) && clock.monotonic() < end)
      await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
  }

  /**
   * Accepts no more connections, lets calls finish for `graceMs`, ends streams between two events, then closes the
   * rest.
   */
  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    const closed = this.#closed;
    await this.#within(graceMs, this.#callsDone());
    this.#responder.isEnding = true;
    for (const stream of this.#streams.values()) stream.stop();
    this.#server.closeIdleConnections();
    await this.#within(Math.min(graceMs, 1_000), closed);
    this.#sockets?.terminate();
    this.#server.closeAllConnections();
    for (const socket of this.#accepted) socket.destroy();
    await closed;
  }

  #secureServer(tls: ServerTls, settings: HttpSettings): Server {
    const protocols = this.#options.takeHttp2 && { ALPNCallback: chosenProtocol };
    const handshakeTimeout = settings.headersTimeout;
    const all = { ...tls.options, ...settings, ...protocols, handshakeTimeout };
    const server = process.getBuiltinModule('node:https').createServer(all).on('connection', this.#accept);
    // A client must not replace its certificate on a connection, because it is parsed once.
    server.on('secureConnection', (socket) => socket.disableRenegotiation());
    server.on(
      'close',
      tls.watch((changed) => server.setSecureContext(changed)),
    );
    return server;
  }

  readonly #accept = (socket: Socket): void => {
    this.#accepted.add(socket);
    socket.once('close', () => this.#accepted.delete(socket));
  };

  /** The listener for requests; `expectsContinue` if they wait for `100 Continue` before their body. */
  #serving(expectsContinue: boolean): (incoming: IncomingMessage, response: ServerResponse) => void {
    return (incoming, response) => {
      // Without a socket the request is pipelined behind an earlier one.
      const admission = response.socket === null ? this.#pipelines.admit(response) : 'admitted';
      if (admission !== 'admitted') incoming.socket.pause();
      if (admission === 'dropped') return;
      const request = new NodeExchangeRequest({ incoming, response, expectsContinue });
      const call = { incoming, response, request, place: this.#calls.add(response) };
      const refusal = admission === 'refused' ? TOO_MANY : refusalOf(incoming);
      if (refusal !== undefined) {
        const limit = refusal === TOO_MANY ? 'pipelined' : refusal === TOO_MANY_LINES ? 'headBytes' : undefined;
        if (limit !== undefined) this.#options.limitReached?.({ limit, caller: incoming.socket.remoteAddress });
        this.#options.refused?.(refusal.status);
        return this.#responder.send(call, refusal, limit !== undefined || this.#responder.isClosing);
      }
      if (this.#options.takesLongBodies === true) this.#boundBody(incoming, request);
      this.#responder.deliver(call, this.#options.exchange(request));
    };
  }

  /** Ends a request whose body is not complete in time, unless its reader bounds the time. */
  #boundBody(incoming: IncomingMessage, request: NodeExchangeRequest): void {
    if (incoming.complete) return;
    const { clock, requestMs = TIMES.requestMs } = this.#options;
    const cancel = clock.after(requestMs, () => {
      if (incoming.complete || request.isStreamed) return;
      this.#onMalformed(Object.assign(new Error('The request took too long'), { code: TIMED_OUT }), incoming.socket);
    });
    incoming.once('end', cancel).once('close', cancel);
  }

  #callsDone(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #within(ms: number, done: Promise<void> | undefined): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      void done?.then(() => {
        cancel();
        resolve();
      });
    });
  }

  /**
   * Closes a connection that has sent nothing in its time. It gets no answer, because a request that is on its way
   * would take it for its own. A process that was busy first reads the bytes that have arrived meanwhile.
   */
  #endSilent(socket: Socket): void {
    const { clock, limitReached } = this.#options;
    clock.soon(() => {
      if (socket.destroyed || socket.bytesRead > 0) return;
      limitReached?.({ limit: 'headersMs', caller: socket.remoteAddress });
      socket.destroy();
    });
  }

  #onMalformed({ code }: NodeJS.ErrnoException, socket: Socket): void {
    const { clock, limitReached, refused } = this.#options;
    const caller = socket.remoteAddress;
    if (!isMalformed(code)) {
      if (code === TLS_TIMED_OUT) limitReached?.({ limit: 'headersMs', caller });
      return void socket.destroy();
    }
    if (code === TIMED_OUT && socket.bytesRead === 0) return this.#endSilent(socket);
    const streaming = this.#streams.values().some((stream) => stream.isOn(socket));
    // Bytes after a parse error cannot be read.
    if (this.#broken.has(socket)) return streaming || code === TIMED_OUT ? void socket.destroy() : undefined;
    const response = this.#calls.values().findLast(({ req }) => req.socket === socket);
    const { answer, limit } = malformedRequest(code, response?.req.complete === false);
    if (limit !== undefined) limitReached?.({ limit, caller });
    if (streaming) return void socket.destroy();
    this.#broken.add(socket);
    if (response === undefined) {
      sendRaw({ socket, answer, clock, refused });
    } else if (response.req.complete) {
      if (code === TIMED_OUT) return void socket.destroy();
      // Complete requests before the broken bytes are answered first.
      response.once('finish', () => sendRaw({ socket, answer, clock, refused }));
    } else if (!response.headersSent) {
      // The request will never be complete. Its readers get an error once the answer is sent, and its exchange counts
      // it.
      response.once('close', () => response.req.destroy());
      if (code === CUT_OFF) sendWhole({ response, answer, closing: true });
      else sendEarly({ incoming: response.req, response, answer, clock });
    }
  }
}

/** The protocol of a connection with TLS. Browsers offer both, clients of gRPC only HTTP/2. */
function chosenProtocol({ protocols }: { readonly protocols: readonly string[] }): string | undefined {
  return ['http/1.1', 'h2'].find((protocol) => protocols.includes(protocol));
}
