import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../auth/client-certificate.js';
import type { BodyMeter } from '../../bindings/http/body-budget.js';
import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import { hasBody, readBody } from './request-body.js';
import { connectionCertificate } from './server-tls.js';

/** Maximum number of unread body bytes that are drained to reuse the connection. */
const UNREAD_KEPT = 65_536;

/** A request as node:http announces it. */
interface AnnouncedRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** True if the peer waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
}

/**
 * A request of a node:http server in the form of an exchange. Headers, signal and body are made when they are first
 * read.
 */
export class NodeExchangeRequest implements ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peer: string | undefined;
  readonly afterPromises: (task: () => void) => void;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #expectsContinue: boolean;
  #body: Promise<Uint8Array> | undefined;
  #isStreamed = false;
  #signal: AbortSignal | undefined;

  constructor({ incoming, response, expectsContinue }: AnnouncedRequest) {
    const { url = '/' } = incoming;
    const target = url.charCodeAt(0) === 47 ? url : pathOf(url);
    const mark = target.indexOf('?');
    this.method = incoming.method ?? 'GET';
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.#incoming = incoming;
    this.#response = response;
    this.#expectsContinue = expectsContinue;
    // Read at once: a closed socket has no address, so a client that disconnects early would have no limits.
    this.peer = incoming.socket.remoteAddress;
    this.afterPromises = nextTick;
  }

  get connection(): object {
    return this.#incoming.socket;
  }

  get local(): string | undefined {
    const { socket } = this.#incoming;
    const { localAddress, localPort } = socket;
    if (localAddress === undefined || localPort === undefined) return undefined;
    const plain = localAddress.startsWith('::ffff:') ? localAddress.slice(7) : localAddress;
    const scheme = isSecure(socket) ? 'https' : 'http';
    return `${scheme}://${plain.includes(':') ? `[${plain}]` : plain}:${localPort}`;
  }

  get clientCertificate(): ClientCertificate | undefined {
    const { socket } = this.#incoming;
    return isSecure(socket) ? connectionCertificate(socket) : undefined;
  }

  get toldStatus(): number | undefined {
    return this.#response.headersSent ? this.#response.statusCode : undefined;
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  headerLines(name: string): number {
    const { rawHeaders } = this.#incoming;
    let lines = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const raw = rawHeaders[at] ?? '';
      if (raw.length === name.length && raw.toLowerCase() === name) lines++;
    }
    return lines;
  }

  body(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    if (this.#body === undefined) {
      const incoming = this.#incoming;
      const goesAhead = this.#expectsContinue && Number(incoming.headers['content-length'] ?? 0) <= limit;
      if (goesAhead) this.#response.writeContinue();
      this.#body = readBody(incoming, limit, meter);
    }
    return this.#body;
  }

  chunks(): AsyncIterable<Uint8Array> {
    this.#isStreamed = true;
    if (this.#expectsContinue) this.#response.writeContinue();
    return this.#chunks();
  }

  /** Loaded on demand: only servers with files stream bodies. */
  async *#chunks(): AsyncGenerator<Uint8Array> {
    const { requestChunks } = await import('./request-chunks.js');
    yield* requestChunks(this.#incoming);
  }

  /** True if the body is streamed, so that its reader bounds its time. */
  get isStreamed(): boolean {
    return this.#isStreamed;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#makeSignal();
    return this.#signal;
  }

  /** True if the unread body of an incomplete request is too large to drain. The connection cannot be reused then. */
  get leavesBody(): boolean {
    const incoming = this.#incoming;
    if (!hasBody(incoming)) return false;
    if (this.#expectsContinue && this.#body === undefined && !this.#isStreamed) return true;
    return !(Number(incoming.headers['content-length']) <= UNREAD_KEPT);
  }

  #makeSignal(): AbortSignal {
    const response = this.#response;
    if (response.destroyed) return AbortSignal.abort();
    const controller = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
    return controller.signal;
  }
}

function isSecure(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket;
}

/**
 * The path of a request target, also in its absolute form, which proxies may send (RFC 9112 §3.2.2), or the asterisk
 * form of OPTIONS.
 */
function pathOf(url: string): string {
  const scheme = url.indexOf('://');
  if (scheme < 0) return '/';
  const path = url.slice(scheme + 3).search(/[/?]/);
  if (path < 0) return '/';
  const target = url.slice(scheme + 3 + path);
  return target.startsWith('?') ? `/${target}` : target;
}
