import type { Logger } from 'parley-a2a';
import {
  callDirectly,
  type DirectAnswer,
  type DirectReply,
  STREAM_RESUME_EXTENSION,
  toA2AError,
  type UnaryOperationName,
} from 'parley-a2a/binding-kit';
import type { Exchange } from 'parley-a2a/server';
import { GrpcRequest } from '../binding/grpc-request.js';
import { decoderOf, type GrpcRoute } from '../binding/grpc-routes.js';
import { GRPC_STATUS } from '../binding/grpc-status.js';
import { errorTrailers, type Fields, metadataOf, plainTrailers } from '../binding/grpc-trailers.js';
import type { GrpcConnection } from './grpc-connection.js';
import type { GrpcHandler, GrpcStream } from './grpc-stream.js';

/** A call of an operation, and its agent. */
interface OperationCallOptions {
  readonly stream: GrpcStream;
  readonly route: GrpcRoute;
  readonly exchange: Exchange;
  readonly connection: GrpcConnection;
  readonly logger: Logger;
}

/** Ready events share a write up to this size, that of an HTTP/2 frame. */
const WRITE_BYTES = 16_384;

type Item = Parameters<GrpcRoute['codec']['encodeEvent']>[0];
type Items = Extract<DirectAnswer, { kind: 'stream' }>['items'];

/** True if the call has activated the extension that numbers the events of streams. */
function resumes(headers: Fields): boolean {
  const activated = headers['a2a-extensions'] ?? headers['x-a2a-extensions'];
  return activated?.includes(STREAM_RESUME_EXTENSION) === true;
}

/** Answers a call of an operation through the exchange of its agent. */
export class OperationCall implements GrpcHandler {
  readonly #options: OperationCallOptions;
  #request: GrpcRequest | undefined;
  #items: Items | undefined;
  #isOver = false;

  constructor(options: OperationCallOptions) {
    this.#options = options;
  }

  ready(value: Uint8Array | undefined): void {
    const { stream, route, exchange, connection } = this.#options;
    const { operation } = route;
    const asked = String(stream.headers['a2a-version'] ?? '').trim();
    const call = { operation, decoder: decoderOf(route, asked), value, assumesVersion: asked === '' };
    this.#request = new GrpcRequest(stream, stream.path, call);
    connection.works(1);
    void this.#answer(exchange, this.#request);
  }

  over(): void {
    this.#isOver = true;
    this.#release();
  }

  stop(): void {
    if (this.#items === undefined) return;
    const { stream } = this.#options;
    stream.end(plainTrailers(GRPC_STATUS.UNAVAILABLE, 'The server stops. Subscribe again to go on'));
    this.#release();
  }

  async #answer(exchange: Exchange, request: GrpcRequest): Promise<void> {
    const { stream, connection, logger } = this.#options;
    try {
      let reply: DirectReply;
      try {
        reply = await callDirectly(exchange, request);
      } catch (thrown) {
        connection.works(-1);
        return stream.end(this.#trailersOf(thrown));
      }
      this.#reply(reply);
    } catch (error) {
      // The answer cannot be encoded.
      logger.error('A call of gRPC failed', { error });
      stream.cut();
    }
  }

  #reply({ answer, headers }: DirectReply): void {
    const { stream, route, connection } = this.#options;
    if (answer.kind === 'stream') {
      this.#items = answer.items;
      if (this.#isOver) {
        connection.works(-1);
        return this.#release();
      }
      stream.begin(metadataOf(headers));
      void this.#pump(answer.items, resumes(headers));
      return;
    }
    connection.works(-1);
    if (this.#isOver) return;
    try {
      // An agent may give an error details without a protobuf form.
      if (answer.kind === 'error') return stream.end(errorTrailers(answer.error, route.codec), metadataOf(headers));
      const { codec, operation } = route;
      stream.answer(codec.encode(operation as UnaryOperationName, answer.response), metadataOf(headers));
    } catch (thrown) {
      stream.end(this.#trailersOf(thrown), metadataOf(headers));
    }
  }

  /** Sends events as fast as the client reads them. */
  async #pump(items: Items, withSeq: boolean): Promise<void> {
    const { stream, connection } = this.#options;
    let trailers: Fields | undefined;
    try {
      for (;;) {
        const { value: item, done } = await items.next();
        if (this.#isOver || done === true) break;
        const room = this.#send(item, items, withSeq);
        if (room !== undefined) await room;
        if (this.#isOver) break;
      }
    } catch (thrown) {
      trailers = this.#trailersOf(thrown);
    }
    connection.works(-1);
    stream.end(trailers);
    this.#release();
  }

  /** Sends an event in one write with further ready events, even if a later one cannot be encoded. */
  #send(first: Item, items: Items, withSeq: boolean): Promise<void> | undefined {
    const { stream, route } = this.#options;
    const messages: Uint8Array[] = [];
    let size = 0;
    try {
      for (let item: Item | undefined = first; item !== undefined; ) {
        const message = route.codec.encodeEvent(item, withSeq);
        messages.push(message);
        size += message.length;
        item = size < WRITE_BYTES ? items.ready?.() : undefined;
      }
    } catch (thrown) {
      stream.write(...messages);
      throw thrown;
    }
    return stream.write(...messages);
  }

  #trailersOf(thrown: unknown): Fields {
    const { route, logger } = this.#options;
    const error = toA2AError(thrown, logger, { operation: route.operation, requestId: this.#request?.requestId });
    return errorTrailers(error, route.codec);
  }

  #release(): void {
    const items = this.#items;
    this.#items = undefined;
    void items?.return?.();
  }
}
