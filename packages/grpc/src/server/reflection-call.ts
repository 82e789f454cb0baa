import { callDirectly } from 'parley-a2a/binding-kit';
import type { Exchange } from 'parley-a2a/server';
import { GrpcRequest } from '../binding/grpc-request.js';
import { GRPC_STATUS } from '../binding/grpc-status.js';
import { errorTrailers, metadataOf, plainTrailers } from '../binding/grpc-trailers.js';
import type { GrpcHandler, GrpcStream } from './grpc-stream.js';

/** A call of the reflection service. */
interface ReflectionCallOptions {
  readonly stream: GrpcStream;
  /** Admits the caller. */
  readonly exchange: Exchange;
  /** Answers one request. Throws for bytes that are none. */
  readonly answer: (request: Uint8Array) => Uint8Array;
}

/** Maximum number of requests on one stream. Tools ask for a few dozen files. */
const MOST_REQUESTS = 1_000;

/** Answers the requests of a stream one after the other, for callers that the agent admits. */
export class ReflectionCall implements GrpcHandler {
  readonly isEarly = true;
  readonly #options: ReflectionCallOptions;
  #requests = 0;

  constructor(options: ReflectionCallOptions) {
    this.#options = options;
  }

  ready(): void {
    void this.#serve();
  }

  over(): void {}

  stop(): void {
    this.#options.stream.end(plainTrailers(GRPC_STATUS.UNAVAILABLE, 'The server stops'));
  }

  async #serve(): Promise<void> {
    const { stream, exchange, answer } = this.#options;
    const { answer: admission, headers } = await callDirectly(exchange, new GrpcRequest(stream, stream.path));
    const metadata = metadataOf(headers);
    if (admission.kind === 'error') return stream.end(errorTrailers(admission.error, CURRENT), metadata);
    stream.begin(metadata);
    try {
      for await (const request of stream.messages(LONGEST_REQUEST)) {
        this.#requests += 1;
        if (this.#requests > MOST_REQUESTS) {
          return stream.end(plainTrailers(GRPC_STATUS.RESOURCE_EXHAUSTED, 'Too many requests on one stream'));
        }
        const room = stream.write(answer(request));
        if (room !== undefined) await room;
      }
      stream.end();
    } catch {
      stream.end(plainTrailers(GRPC_STATUS.INVALID_ARGUMENT, 'The message cannot be read'));
    }
  }
}

const LONGEST_REQUEST = 4_096;
const CURRENT = { version: '1.0' };
