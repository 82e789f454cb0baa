import type { ExchangeRequest, ExchangeResponse } from '../src/bindings/http/exchange.js';
import { A2AError } from '../src/errors/a2a-error.js';

/** Options of a request. A body that is no string and no bytes is sent as JSON. */
export interface MemoryRequestOptions {
  readonly method?: string;
  /** Path with query. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request without a host, as an adapter passes it to an exchange. */
export class MemoryRequest implements ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peer = '127.0.0.1';
  readonly #headers: ReadonlyMap<string, string>;
  readonly #body: Uint8Array;
  #controller: AbortController | undefined;
  /** True if the body was read. */
  bodyRead = false;

  constructor({ method = 'POST', url = '/', headers = {}, body }: MemoryRequestOptions) {
    this.method = method;
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
    this.#headers = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    this.#body = bytesOf(body);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  async body(limit: number): Promise<Uint8Array> {
    this.bodyRead = true;
    if (this.#body.length > limit) throw new A2AError('PAYLOAD_TOO_LARGE', `The body exceeds ${limit} bytes`);
    return this.#body;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** True if the signal was read. */
  get signalMade(): boolean {
    return this.#controller !== undefined;
  }

  /** Simulates a peer that goes away. */
  abort(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

function bytesOf(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The whole body of an answer as text. Reads a stream to its end. */
export async function textOf({ body }: ExchangeResponse): Promise<string> {
  if (body === undefined) return '';
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  let text = '';
  for await (const frames of body) text += frames;
  return text;
}

/** The body of an answer as JSON. */
export async function jsonOf(answer: ExchangeResponse): Promise<unknown> {
  return JSON.parse(await textOf(answer));
}

/** One frame of an event stream. */
export interface Frame {
  readonly id?: string;
  readonly data: unknown;
}

/** The frames of an event stream without comments. Fails for frames other than an `id` and one line of data. */
export function framesOf(text: string): Frame[] {
  if (text === '') return [];
  if (!text.endsWith('\n\n')) throw new Error(`the last frame is not complete: ${text.slice(-40)}`);
  const frames: Frame[] = [];
  for (const block of text.slice(0, -2).split('\n\n')) {
    if (block.startsWith(':')) continue;
    const match = /^(?:id: (\S+)\n)?data: ([^\n]*)$/.exec(block);
    if (match === null) throw new Error(`not a frame: ${block}`);
    const data: unknown = JSON.parse(match[2] as string);
    frames.push(match[1] === undefined ? { data } : { id: match[1], data });
  }
  return frames;
}
