import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorAnswer } from '../../app/json-answer.js';
import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ReachedLimit } from '../../telemetry/reached-limit.js';
import { headOf, sendEarly, sendWhole, whenStalled } from './answer.js';
import { ResponseStream } from './response-stream.js';

/** A request of node:http, and the response for its answer. */
export interface RespondingCall {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** `leavesBody`: a body remains on the wire that is not worth reading, so the connection ends with the answer. */
  readonly request: ExchangeRequest & { readonly leavesBody: boolean };
}

/** The ports of a responder, and what the owner of the connections wants to know. */
export interface ResponderOptions<Call extends RespondingCall = RespondingCall> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** A peer that takes nothing of its answer for this long is dropped; default 30 s. */
  readonly stallMs?: number | undefined;
  /** Called for each peer that is dropped. */
  readonly limitReached?: (reached: ReachedLimit) => void;
  /** True if the connection ends with an answer. Default: never. */
  readonly isLast?: (answer: ExchangeResponse) => boolean;
  /** Called with each stream that begins. It gives the function to call when the stream ends. */
  readonly streamBegins?: (stream: ResponseStream) => () => void;
  /** Called once a whole answer has left, a stream has begun, or the peer has gone. */
  readonly done?: (call: Call) => void;
}

/** Writes answers to responses of node:http, for our server and for frameworks. */
export class Responder<Call extends RespondingCall = RespondingCall> {
  readonly #options: ResponderOptions<Call>;
  readonly #stallMs: number;

  constructor(options: ResponderOptions<Call>) {
    this.#options = options;
    this.#stallMs = options.stallMs ?? 30_000;
  }

  /** Writes the answer of an exchange once it is there; 500 if the exchange rejects. */
  deliver(call: Call, answering: Promise<ExchangeResponse>): void {
    answering.then(
      (answer) => this.send(call, answer),
      (error: unknown) => {
        const { method, path } = call.request;
        this.#options.logger.error('An exchange failed', { error, method, path });
        this.send(call, errorAnswer({ status: 500, message: 'Internal error' }));
      },
    );
  }

  /** Writes an answer. Headers that a framework has set on the response go along. */
  send(call: Call, answer: ExchangeResponse): void {
    const { response } = call;
    const { logger, done } = this.#options;
    if (response.destroyed || response.headersSent) {
      // The peer has gone, or the response has an answer: of a framework, or of the server to a request that broke off.
      release(answer);
      if (response.destroyed) done?.(call);
      else if (done !== undefined) response.once('close', () => done(call));
      return;
    }
    try {
      const frames = framesOf(answer);
      if (frames !== undefined) {
        this.#stream(response, answer, frames);
        return done?.(call);
      }
      this.#write(call, answer);
    } catch (error) {
      logger.error('An answer could not be sent', { error, status: answer.status });
      response.destroy();
    }
    // Until the answer has left, a shutdown must not take the connection for an idle one.
    if (response.writableLength === 0 && response.writableEnded) return done?.(call);
    if (done !== undefined) response.once('close', () => done(call));
    if (call.incoming.httpVersionMajor === 1) whenStalled({ response, stallMs: this.#stallMs, drop: this.#drop });
    // Other answers share the connection of HTTP/2: the time is that of this answer's stream.
    else response.setTimeout(this.#stallMs, () => this.#drop(response));
  }

  #write({ incoming, response, request }: Call, answer: ExchangeResponse): void {
    const { clock, logger, isLast } = this.#options;
    const { bytes } = answer;
    if (bytes !== undefined) {
      const closing = request.leavesBody || (isLast?.(answer) ?? false);
      const times = { clock, stallMs: this.#stallMs, drop: this.#drop };
      // Only servers with files load this code.
      import('./send-bytes.js').then(
        ({ sendBytes }) => sendBytes({ response, answer: { ...answer, bytes }, closing, logger, ...times }),
        () => response.destroy(),
      );
      return;
    }
    if (request.leavesBody) sendEarly({ incoming, response, answer, clock });
    else sendWhole({ response, answer, closing: isLast?.(answer) ?? false });
  }

  #stream(response: ServerResponse, answer: ExchangeResponse, frames: AsyncIterable<string>): void {
    const { clock, logger, isLast, streamBegins } = this.#options;
    response.writeHead(answer.status, headOf({ answer, closing: isLast?.(answer) ?? false }));
    const done = () => ended?.();
    const stream = new ResponseStream({
      response,
      frames,
      clock,
      logger,
      stallMs: this.#stallMs,
      drop: this.#drop,
      done,
    });
    const ended = streamBegins?.(stream);
  }

  /** Drops a peer that has taken nothing of its answer for too long. */
  readonly #drop = (response: ServerResponse): void => {
    const { logger, limitReached } = this.#options;
    logger.warn('A peer that reads nothing was dropped', { stallMs: this.#stallMs });
    limitReached?.({ limit: 'stallMs', caller: response.req.socket.remoteAddress });
    response.destroy();
  };
}

function framesOf({ body }: ExchangeResponse): AsyncIterable<string> | undefined {
  return typeof body === 'object' && Symbol.asyncIterator in body ? body : undefined;
}

/** Ends a stream that has no reader any more. */
function release(answer: ExchangeResponse): void {
  const source: AsyncIterable<unknown> | undefined = framesOf(answer) ?? answer.bytes?.chunks;
  source?.[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
}
