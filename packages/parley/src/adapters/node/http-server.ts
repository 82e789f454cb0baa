import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorAnswer } from '../../app/json-answer.js';
import type { HttpServerTimes } from '../../app/server-options.js';
import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { Logger } from '../../telemetry/logger.js';
import { headOf, sendEarly, sendWhole } from './answer.js';
import { malformedRequest } from './malformed-request.js';
import { type Arrival, NodeExchangeRequest } from './node-exchange-request.js';
import { ResponseStream } from './response-stream.js';

/** What an HTTP server needs. */
export interface HttpServerOptions extends HttpServerTimes {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly logger: Logger;
}

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
  /** By the number of their request. */
  readonly #streams = new TransientMap<number, ResponseStream>();
  readonly #calls = new TransientMap<number, ServerResponse>();
  #requests = 0;
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
    });
    this.#server.on('request', (incoming, response) => this.#serve({ incoming, response, expectsContinue: false }));
    this.#server.on('checkContinue', (incoming, response) =>
      this.#serve({ incoming, response, expectsContinue: true }),
    );
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#onMalformed(error, socket));
  }

  /** Resolves when connections are accepted. `port` 0 takes a free one. */
  listen({ host, port }: BoundAddress): Promise<BoundAddress> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
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
    const number = ++this.#requests;
    this.#calls.set(number, response);
    const request = new NodeExchangeRequest({ incoming, response, expectsContinue });
    this.#options.exchange(request).then(
      (answer) => this.#answer({ number, incoming, response, request, answer }),
      (error: unknown) => {
        this.#options.logger.error('An exchange failed', { error, method: request.method, path: request.path });
        const answer = errorAnswer({ status: 500, message: 'Internal error' });
        this.#answer({ number, incoming, response, request, answer });
      },
    );
  }

  #answer({ number, incoming, response, request, answer }: Answering): void {
    if (response.destroyed) {
      release(answer);
      return this.#callDone(number);
    }
    const { body } = answer;
    if (typeof body === 'object' && Symbol.asyncIterator in body) {
      this.#stream({ number, response, answer, frames: body });
      return this.#callDone(number);
    }
    try {
      if (request.leavesBody) sendEarly({ incoming, response, answer, clock: this.#options.clock });
      else sendWhole({ response, answer, closing: this.#closed !== undefined });
    } catch (error) {
      this.#options.logger.error('An answer could not be sent', { error, status: answer.status });
      response.destroy();
    }
    // Until it has left, a shutdown must not take the connection for an idle one.
    if (response.writableLength === 0) this.#callDone(number);
    else response.once('close', () => this.#callDone(number));
  }

  #stream({ number, response, answer, frames }: Streaming): void {
    response.writeHead(answer.status, headOf({ answer, closing: this.#closed !== undefined }));
    const { clock, logger } = this.#options;
    const done = () => this.#streams.delete(number);
    const stream = new ResponseStream({ response, frames, clock, logger, stallMs: this.#stallMs, done });
    this.#streams.set(number, stream);
    if (this.#ending) stream.stop();
  }

  #callDone(number: number): void {
    this.#calls.delete(number);
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

  #onMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
    let answering = false;
    for (const response of this.#calls.values()) answering ||= response.socket === socket;
    for (const stream of this.#streams.values()) answering ||= stream.isOn(socket);
    if (answering || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else socket.end(malformedRequest(error.code));
  }
}

interface Answering {
  readonly number: number;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeExchangeRequest;
  readonly answer: ExchangeResponse;
}

interface Streaming extends Pick<Answering, 'number' | 'response' | 'answer'> {
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
