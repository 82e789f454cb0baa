import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import { payloadTooLarge, readChunks } from '../../bindings/http/read-chunks.js';

const NOTHING = new Uint8Array(0);

/** A web request as the bindings see it. */
export class FetchExchangeRequest implements ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #request: Request;
  #body: Promise<Uint8Array> | undefined;

  constructor(request: Request) {
    const { pathname, search } = new URL(request.url);
    this.method = request.method;
    this.path = pathname;
    this.query = search.slice(1);
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  body(limit: number): Promise<Uint8Array> {
    this.#body ??= this.#read(limit);
    return this.#body;
  }

  async #read(limit: number): Promise<Uint8Array> {
    const { body } = this.#request;
    if (body === null) return NOTHING;
    if (Number(this.header('content-length') ?? 0) > limit) throw payloadTooLarge(limit);
    return readChunks(body as AsyncIterable<Uint8Array>, limit);
  }
}
