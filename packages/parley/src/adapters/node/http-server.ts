import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorAnswer } from '../../app/json-answer.js';
import type { HttpServerTimes } from '../../app/options/server-options.js';
import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import { LinkedList, type Place } from '../../runtime/linked-list.js';
import type { Logger } from '../../telemetry/logger.js';
import { closeGently, dropStalled, headOf, sendEarly, sendRaw, sendWhole } from './answer.js';
import { CUT_OFF, isMalformed, malformedRequest, TIMED_OUT } from './malformed-request.js';
import { type Arrival, NodeExchangeRequest } from './node-exchange-request.js';
import { createServer } from './node-http.js';
import { PipelineLimit } from './pipeline-limit.js';
import { refusalOf } from './refused-request.js';
import { ResponseStream } from './response-stream.js';

/** What an HTTP server needs. */
export interface HttpServerOptions extends HttpServerTimes {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly logger: Logger;
}

const NO_PROXY = errorAnswer({ status: 501, message: 'This server is no proxy' });
/** Connections that may wait to be accepted, as far as the system allows it: a moment of standstill turns nobody away. */
const BACKLOG = 4_096;
const TOO_MANY = errorAnswer({ status: 429, message: 'Too many requests on this connection wait for their answers' });

/** Where a server really listens. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** A node:http server in front of an exchange: the fast path of the library. */
export class HttpServer {
  readonly #server: Server;
  readonly #options: HttpServerOptions;
  readonly #stallMs: number;
  readonly #streams = new LinkedList<ResponseStream>();
  /** Requests that are being answered. */
  readonly #calls = new LinkedList<ServerResponse>();
  readonly #pipelines = new PipelineLimit();
  /** Connections on which nothing more can be understood. */
  readonly #broken = new WeakSet<Socket>();
  /** Resolves when the last connection is gone; there from the moment on that no new ones are accepted. */
  #closed: Promise<void> | undefined;
  /** Streams are ended, also those that begin only now. */
  #ending = false;
  #idle: (() => void) | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#stallMs = options.stallMs ?? 30_000;
    this.#server = createServer({
      keepAliveTimeout: options.keepAliveMs ?? 65_000,
      headersTimeout: options.headersMs ?? 15_000,
      requestTimeout: options.requestMs ?? 120_000,
      connectionsCheckingInterval: Math.min(5_000, options.headersMs ?? 15_000),
      joinDuplicateHeaders: true,
      // Checked here, with an answer that says so.
      requireHostHeader: false,
    });
    const serve = (incoming: IncomingMessage, response: ServerResponse) =>
      this.#serve({ incoming, response, expectsContinue: false });
    // What a peer expects beyond a go-ahead may be ignored (RFC 9110 §10.1.1).
    this.#server.on('request', serve).on('checkExpectation', serve);
    this.#server.on('checkContinue', (incoming, response) =>
      this.#serve({ incoming, response, expectsContinue: true }),
    );
    this.#server.on('connection', (socket: Socket) => closeGently(socket, options.clock));
    this.#server.on('connect', (_incoming, socket: Socket) => {
      socket.on('error', () => {}).resume();
      sendRaw({ socket, answer: NO_PROXY, clock: options.clock });
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#onMalformed(error, socket));
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

  /** Accepts no more connections; what is open goes on, each connection until its answer is out. */
  stopAccepting(): void {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Accepts nothing more, lets calls finish for `graceMs`, ends streams between two events, then cuts what is left. */
  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    const closed = this.#closed;
    await this.#within(graceMs, this.#callsDone());
    this.#ending = true;
    for (const stream of this.#streams.values()) stream.stop();
    this.#server.closeIdleConnections();
    await this.#within(Math.min(graceMs, 1_000), closed);
    this.#server.closeAllConnections();
    await closed;
  }

  #serve({ incoming, response, expectsContinue }: Arrival): void {
    // Without a socket it has to wait for the answer to an earlier request.
    const place = response.socket === null ? this.#pipelines.admit(response) : 'admitted';
    if (place !== 'admitted') incoming.socket.pause();
    if (place === 'dropped') return;
    const call = this.#calls.add(response);
    const request = new NodeExchangeRequest({ incoming, response, expectsContinue });
    const refusal = place === 'refused' ? TOO_MANY : refusalOf(incoming);
    if (refusal !== undefined) return this.#answer({ call, incoming, response, request, answer: refusal });
    this.#options.exchange(request).then(
      (answer) => this.#answer({ call, incoming, response, request, answer }),
      (error: unknown) => {
        this.#options.logger.error('An exchange failed', { error, method: request.method, path: request.path });
        const answer = errorAnswer({ status: 500, message: 'Internal error' });
        this.#answer({ call, incoming, response, request, answer });
      },
    );
  }

  #answer({ call, incoming, response, request, answer }: Answering): void {
    if (response.destroyed) {
      release(answer);
      return this.#callDone(call);
    }
    if (response.headersSent) {
      // Its request broke off, and was answered so.
      release(answer);
      response.once('close', () => this.#callDone(call));
      return;
    }
    const { body } = answer;
    if (typeof body === 'object' && Symbol.asyncIterator in body) {
      this.#stream({ response, answer, frames: body });
      return this.#callDone(call);
    }
    try {
      if (request.leavesBody) sendEarly({ incoming, response, answer, clock: this.#options.clock });
      else sendWhole({ response, answer, closing: this.#closed !== undefined || answer === TOO_MANY });
    } catch (error) {
      this.#options.logger.error('An answer could not be sent', { error, status: answer.status });
      response.destroy();
    }
    // Until it has left, a shutdown must not take the connection for an idle one.
    if (response.writableLength === 0 && response.writableEnded) return this.#callDone(call);
    response.once('close', () => this.#callDone(call));
    dropStalled({ response, stallMs: this.#stallMs, logger: this.#options.logger });
  }

  #stream({ response, answer, frames }: Streaming): void {
    response.writeHead(answer.status, headOf({ answer, closing: this.#closed !== undefined }));
    const { clock, logger } = this.#options;
    const done = () => this.#streams.remove(place);
    const stream = new ResponseStream({ response, frames, clock, logger, stallMs: this.#stallMs, done });
    const place = this.#streams.add(stream);
    if (this.#ending) stream.stop();
  }

  #callDone(call: Place<ServerResponse>): void {
    this.#calls.remove(call);
    if (this.#closed && this.#calls.size === 0) this.#idle?.();
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

  #onMalformed({ code }: NodeJS.ErrnoException, socket: Socket): void {
    const { clock } = this.#options;
    const streaming = this.#streams.values().some((stream) => stream.isOn(socket));
    const isFirst = !this.#broken.has(socket);
    if (streaming || !isMalformed(code) || (code === TIMED_OUT && !isFirst)) return void socket.destroy();
    // What goes on arriving after broken bytes is broken, too.
    if (!isFirst) return;
    this.#broken.add(socket);
    const answer = malformedRequest(code);
    const response = this.#calls.values().findLast(({ req }) => req.socket === socket);
    if (response === undefined) {
      sendRaw({ socket, answer, clock });
    } else if (response.req.complete) {
      if (code === TIMED_OUT) return void socket.destroy();
      // Whole requests that came before get their answers first.
      response.once('finish', () => sendRaw({ socket, answer, clock }));
    } else if (!response.headersSent) {
      // The request that is being worked on will never be whole: whoever reads it has to know once the answer is out.
      response.once('close', () => response.req.destroy());
      if (code === CUT_OFF) sendWhole({ response, answer, closing: true });
      else sendEarly({ incoming: response.req, response, answer, clock });
    }
  }
}

interface Answering {
  readonly call: Place<ServerResponse>;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeExchangeRequest;
  readonly answer: ExchangeResponse;
}

interface Streaming extends Pick<Answering, 'response' | 'answer'> {
  readonly frames: AsyncIterable<string>;
}

/** Lets go of a stream that nobody is left to read. */
function release(answer: ExchangeResponse): void {
  const { body } = answer;
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {});
  }
}
