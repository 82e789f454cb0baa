import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';

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
    if (Number(this.header('content-length') ?? 0) > limit) throw tooLarge(limit);
    const chunks: Uint8Array[] = [];
    let size = 0;
    // Leaving the loop cancels the rest of the body.
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
    return chunks.length === 1 ? (chunks[0] ?? NOTHING) : joined(chunks, size);
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function tooLarge(limit: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `The request body is larger than ${limit} bytes`);
}
