import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorAnswer } from '../../app/json-answer.js';
import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { dropStalled, headOf, sendEarly, sendWhole } from './answer.js';
import type { MountedRequest } from './mounted-request.js';
import { ResponseStream } from './response-stream.js';

/** What answers are written with. */
export interface ResponderOptions {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A peer that takes nothing of its answer for this long is dropped; default 30 s. */
  readonly stallMs?: number;
}

/** A request, and what its answer is written to. */
export interface Responding {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: MountedRequest;
}

/** Writes the answers of an exchange to responses of a node:http server that belongs to somebody else. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #stallMs: number;

  constructor(options: ResponderOptions) {
    this.#options = options;
    this.#stallMs = options.stallMs ?? 30_000;
  }

  /** Answers a request. Headers that the framework has set already go along. */
  async respond(responding: Responding): Promise<void> {
    const { response, request } = responding;
    const { logger } = this.#options;
    const answer = await this.#answerTo(request);
    const stream = framesOf(answer);
    if (response.destroyed || response.headersSent) {
      // The peer has gone, or the framework has answered in the meantime.
      stream?.[Symbol.asyncIterator]()
        .return?.()
        .catch(() => {});
      return;
    }
    try {
      if (stream === undefined) this.#send(responding, answer);
      else this.#stream(response, answer, stream);
    } catch (error) {
      logger.error('An answer could not be sent', { error, status: answer.status });
      response.destroy();
    }
  }

  async #answerTo(request: MountedRequest): Promise<ExchangeResponse> {
    try {
      return await this.#options.exchange(request);
    } catch (error) {
      this.#options.logger.error('An exchange failed', { error, method: request.method, path: request.path });
      return errorAnswer({ status: 500, message: 'Internal error' });
    }
  }

  #send({ incoming, response, request }: Responding, answer: ExchangeResponse): void {
    const { clock, logger } = this.#options;
    if (request.leavesBody) sendEarly({ incoming, response, answer, clock });
    else sendWhole({ response, answer, closing: false });
    const hasLeft = response.writableLength === 0 && response.writableEnded;
    // The sessions of HTTP/2 are shared, and not one answer's to end.
    if (!hasLeft && incoming.httpVersionMajor === 1) dropStalled({ response, stallMs: this.#stallMs, logger });
  }

  #stream(response: ServerResponse, answer: ExchangeResponse, frames: AsyncIterable<string>): void {
    const { clock, logger } = this.#options;
    response.writeHead(answer.status, headOf({ answer, closing: false }));
    new ResponseStream({ response, frames, clock, logger, stallMs: this.#stallMs, done: () => {} });
  }
}

function framesOf({ body }: ExchangeResponse): AsyncIterable<string> | undefined {
  return typeof body === 'object' && Symbol.asyncIterator in body ? body : undefined;
}
