import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A cut of a proxy. */
export interface Cut {
  /**
   * Destroys the connection whose answer has this text, before the text gets through. A number: the connection whose
   * client has sent so many bytes.
   */
  readonly at: string | number;
  /** Number of cuts. After that the text passes. */
  readonly times: number;
}

/** A proxy on the level of TCP that breaks connections in the middle of an answer. */
export class CuttingProxy implements AsyncDisposable {
  /** Number of cut connections. */
  cuts = 0;
  /** Bytes that clients have sent. */
  sent = 0;
  #held: { readonly after: number; readonly reached: () => void } | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, { at, times }: Cut) {
    this.#server = createServer((client) => {
      const target = connect({ port, host: '127.0.0.1' });
      for (const socket of [client, target]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.once('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          target.destroy();
        });
      }
      let sent = 0;
      client.pipe(target);
      client.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        this.sent += chunk.length;
        if (this.#held !== undefined && sent >= this.#held.after) {
          client.unpipe(target).pause();
          this.#held.reached();
          this.#held = undefined;
        }
        if (typeof at !== 'number' || sent < at || this.cuts >= times) return;
        this.cuts += 1;
        client.destroy();
      });
      target.on('data', (chunk: Buffer) => {
        if (typeof at === 'string' && this.cuts < times && chunk.includes(at)) {
          this.cuts += 1;
          client.destroy();
        } else client.write(chunk);
      });
    });
  }

  /** Listens on a free port and forwards to the given one. */
  static async open(port: number, cut: Cut): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port, cut);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Stops the next connection that sends so many bytes. Resolves when it has. */
  hold(after: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = { after, reached: resolve };
    return promise;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
