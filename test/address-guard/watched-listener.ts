import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as the listener got it. */
export interface WatchedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A web server on all addresses of this machine that counts its connections. */
export class WatchedListener implements AsyncDisposable {
  /** The local address of every connection, such as 127.0.0.1. */
  readonly connections: string[] = [];
  readonly requests: WatchedRequest[] = [];
  /** Answers requests. Replace it to answer otherwise. */
  answer: RequestListener = (_, response) => void response.end('ok');
  readonly #server: Server;

  private constructor(tls: { readonly cert: string; readonly key: string } | undefined) {
    const listener: RequestListener = async (request, response) => {
      const body = await text(request).catch(() => undefined);
      // The request of a killed sender is incomplete.
      if (body === undefined) return;
      const { method = '', url: path = '', headers } = request;
      this.requests.push({ method, path, headers, body });
      this.answer(request, response);
    };
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    this.#server.on('connection', ({ localAddress = '' }) => {
      this.connections.push(localAddress.replace('::ffff:', ''));
    });
  }

  static async open(tls?: { readonly cert: string; readonly key: string }): Promise<WatchedListener> {
    const listener = new WatchedListener(tls);
    listener.#server.listen(0, '::');
    await once(listener.#server, 'listening');
    return listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
