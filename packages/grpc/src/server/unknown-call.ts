import { callDirectly } from 'parley-a2a/binding-kit';
import type { Exchange } from 'parley-a2a/server';
import { GrpcRequest } from '../binding/grpc-request.js';
import { GRPC_STATUS } from '../binding/grpc-status.js';
import { errorTrailers, metadataOf, plainTrailers } from '../binding/grpc-trailers.js';
import type { GrpcHandler, GrpcStream } from './grpc-stream.js';

/** A call of an unknown method. A caller without a credential learns only that one is required. */
export class UnknownCall implements GrpcHandler {
  readonly isEarly = true;
  readonly #stream: GrpcStream;
  readonly #exchange: Exchange;

  constructor(stream: GrpcStream, exchange: Exchange) {
    this.#stream = stream;
    this.#exchange = exchange;
  }

  ready(): void {
    void this.#refuse();
  }

  over(): void {}

  stop(): void {}

  async #refuse(): Promise<void> {
    const stream = this.#stream;
    const { answer, headers } = await callDirectly(this.#exchange, new GrpcRequest(stream, stream.path));
    const metadata = metadataOf(headers);
    if (answer.kind === 'error') return stream.end(errorTrailers(answer.error, { version: '1.0' }), metadata);
    const method = stream.path.slice(0, 200);
    stream.end(plainTrailers(GRPC_STATUS.UNIMPLEMENTED, `The method ${method} is not served here`), metadata);
  }
}
