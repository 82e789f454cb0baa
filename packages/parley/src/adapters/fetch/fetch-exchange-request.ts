import type { BodyMeter } from '../../bindings/http/body-budget.js';
import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import { payloadTooLarge, readChunks } from '../../bindings/http/read-chunks.js';

/** Maximum number of unread body bytes that are drained. */
const UNREAD_KEPT = 65_536;

const NOTHING = new Uint8Array(0);

/** The facts of a host about a web request. */
interface FetchPlace {
  /** The part of the path under which the host has put the exchange. */
  readonly mount?: string | undefined;
  /** The second argument of the handler, from the runtime. */
  readonly platform?: unknown;
}

/** A web request as the bindings see it. */
export class FetchExchangeRequest implements ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly mount: string | undefined;
  readonly peer: string | undefined;
  requestId?: string | undefined;
  readonly #request: Request;
  readonly #host: string;
  #body: Promise<Uint8Array> | undefined;

  constructor(request: Request, { mount, platform }: FetchPlace = {}) {
    const { pathname, search, host } = new URL(request.url);
    this.method = request.method;
    this.peer = peerOf(request, platform);
    this.#host = host;
    this.path = mount === undefined ? pathname : pathname.slice(mount.length) || '/';
    this.mount = mount;
    this.query = search.slice(1);
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? (name === 'host' ? this.#host : undefined);
  }

  body(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    this.#body ??= this.#read(limit, meter);
    return this.#body;
  }

  chunks(): AsyncIterable<Uint8Array> {
    return (this.#request.body ?? []) as AsyncIterable<Uint8Array>;
  }

  /** Drains a small unread body, because some hosts break the connection for the next request otherwise. */
  async discard(): Promise<void> {
    const { body, bodyUsed } = this.#request;
    if (body === null || bodyUsed || !(Number(this.header('content-length')) <= UNREAD_KEPT)) return;
    try {
      await readChunks(body as AsyncIterable<Uint8Array>, UNREAD_KEPT);
    } catch {
      // The answer is complete already.
    }
  }

  async #read(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    const { body } = this.#request;
    if (body === null) return NOTHING;
    if (Number(this.header('content-length') ?? 0) > limit) throw payloadTooLarge(limit);
    return readChunks(body as AsyncIterable<Uint8Array>, limit, meter);
  }
}

/** The properties in which runtimes pass the connection of a request. */
interface Platform {
  /** Deno. */
  readonly remoteAddr?: { readonly hostname?: unknown };
  /** Bun. */
  readonly requestIP?: (request: Request) => { readonly address?: unknown } | null;
  /** Hono on Node.js. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: unknown } };
}

/** The address of the peer, if the runtime tells it. */
function peerOf(request: Request, platform: unknown): string | undefined {
  if (typeof platform !== 'object' || platform === null) return undefined;
  const given = platform as Platform;
  const address =
    given.remoteAddr?.hostname ??
    (typeof given.requestIP === 'function' ? given.requestIP(request)?.address : given.incoming?.socket?.remoteAddress);
  return typeof address === 'string' ? address : undefined;
}
