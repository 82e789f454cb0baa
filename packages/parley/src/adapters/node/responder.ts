import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorAnswer } from '../../app/json-answer.js';
import { DEFAULT_HTTP_TIMES } from '../../app/options/server-options.js';
import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import type { LinkedList } from '../../runtime/linked-list.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import { headOf, sendEarly, sendWhole, whenStalled } from './answer.js';
import { ResponseStream } from './response-stream.js';
import type { BytesAnswer } from './send-bytes.js';

/** A request of node:http, and the response for its answer. */
export interface RespondingCall {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /**
   * `leavesBody`: the connection closes with the answer, because the unread body is too large to drain. Read only if
   * the request is not complete.
   */
  readonly request: ExchangeRequest & { readonly leavesBody: boolean };
}

/** The ports of a responder, and callbacks for the owner of the connections. */
export interface ResponderOptions<Call extends RespondingCall = RespondingCall> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time in ms after which a peer that reads nothing of its answer is dropped; default 30 s. */
  readonly stallMs?: number | undefined;
  /** Called for each peer that is dropped. */
  readonly limitReached?: (reached: ReachedLimit) => void;
  /** The list of open streams, which the responder maintains. */
  readonly streams?: LinkedList<ResponseStream>;
  /** Called once an answer is sent, a stream has begun, or the peer has disconnected. */
  readonly done?: (call: Call) => void;
}

/** Writes answers to responses of node:http, for our server and for frameworks. */
export class Responder<Call extends RespondingCall = RespondingCall> {
  /** True if each connection must close after its next answer. */
  isClosing = false;
  /** True if streams must end. A stream that begins later ends at once. */
  isEnding = false;
  readonly #options: ResponderOptions<Call>;
  readonly #stallMs: number;

  constructor(options: ResponderOptions<Call>) {
    this.#options = options;
    this.#stallMs = options.stallMs ?? DEFAULT_HTTP_TIMES.stallMs;
  }

  /** Writes the answer of an exchange when it resolves; 500 if it rejects. */
  async deliver(call: Call, answering: Promise<ExchangeResponse>): Promise<void> {
    let answer: ExchangeResponse;
    try {
      answer = await answering;
    } catch (error) {
      const { method, path } = call.request;
      this.#options.logger.error('An exchange failed', { error, method, path });
      answer = errorAnswer({ status: 500, message: 'Internal error' });
    }
    this.send(call, answer);
  }

  /** Writes an answer, the last one of its connection if `closing`. Keeps headers that a framework has set. */
  send(call: Call, answer: ExchangeResponse, closing = this.isClosing): void {
    const { incoming, response } = call;
    const { clock, logger, done, streams } = this.#options;
    const stallMs = this.#stallMs;
    if (response.destroyed || response.headersSent) return this.#discard(call, answer);
    const { body, bytes } = answer;
    const leavesBody = !incoming.complete && call.request.leavesBody;
    try {
      if (typeof body === 'object' && Symbol.asyncIterator in body) {
        response.writeHead(answer.status, headOf({ answer, closing }));
        const stream = new ResponseStream({
          response,
          frames: body,
          clock,
          logger,
          stallMs,
          drop: this.#drop,
          streams,
        });
        if (this.isEnding) stream.stop();
        return done?.(call);
      }
      if (bytes !== undefined) this.#sendBytes(response, { ...answer, bytes }, closing || leavesBody);
      else if (leavesBody) sendEarly({ incoming, response, answer, clock });
      else sendWhole({ response, answer, closing });
    } catch (error) {
      logger.error('An answer could not be sent', { error, status: answer.status });
      response.destroy();
    }
    // Until the answer is sent, a shutdown must not count the connection as idle.
    if (response.writableLength === 0 && response.writableEnded) return done?.(call);
    if (done !== undefined) response.once('close', () => done(call));
    if (incoming.httpVersionMajor === 1) whenStalled({ response, stallMs, drop: this.#drop });
    // Other answers share the connection of HTTP/2, so the timeout is one of this answer's stream.
    else response.setTimeout(stallMs, () => this.#drop(response));
  }

  /** Drops an answer: the peer has disconnected, or a framework or the server has answered an interrupted request. */
  #discard(call: Call, { body, bytes }: ExchangeResponse): void {
    const { response } = call;
    const { done } = this.#options;
    // A stream has no reader any more.
    const source = typeof body === 'object' && Symbol.asyncIterator in body ? body : bytes?.chunks;
    const chunks: AsyncIterator<unknown> | undefined = source?.[Symbol.asyncIterator]();
    chunks?.return?.().catch(() => {});
    if (response.destroyed) done?.(call);
    else if (done !== undefined) response.once('close', () => done(call));
  }

  #sendBytes(response: ServerResponse, answer: BytesAnswer['answer'], closing: boolean): void {
    const { clock, logger } = this.#options;
    const times = { clock, stallMs: this.#stallMs, drop: this.#drop };
    // Loaded on demand: only servers with files send byte streams.
    import('./send-bytes.js').then(
      ({ sendBytes }) => sendBytes({ response, answer, closing, logger, ...times }),
      () => response.destroy(),
    );
  }

  /** Drops a peer that has read nothing of its answer for too long. */
  readonly #drop = (response: ServerResponse): void => {
    const { logger, limitReached } = this.#options;
    logger.warn('A peer that reads nothing was dropped', { stallMs: this.#stallMs });
    limitReached?.({ limit: 'stallMs', caller: response.req.socket.remoteAddress });
    response.destroy();
  };
}
