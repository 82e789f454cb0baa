import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy on the level of TCP that resets connections in the middle of an answer, or lets nothing through. */
export class ResettingProxy implements AsyncDisposable {
  /** Number of connections that were reset. */
  resets = 0;
  /** True: bytes disappear in both directions, and connections stay open. */
  isFrozen = false;
  /** True: answers disappear. Requests get through, and connections stay open. */
  losesAnswers = false;
  /** True: connections are reset at once. */
  refuses = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, bytesUntilReset: () => number) {
    this.#server = createServer((client) => {
      if (this.refuses) return void client.resetAndDestroy();
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
      let left = bytesUntilReset();
      client.on('data', (chunk) => {
        if (!this.isFrozen) target.write(chunk);
      });
      target.on('data', (chunk: Buffer) => {
        if (this.isFrozen || this.losesAnswers) return;
        client.write(left >= chunk.length ? chunk : chunk.subarray(0, left));
        left -= chunk.length;
        if (left >= 0) return;
        this.resets += 1;
        client.resetAndDestroy();
        target.destroy();
      });
    });
  }

  /** Forwards to a port. `bytesUntilReset` is asked once per connection for the length of its answers. */
  static async open(port: number, bytesUntilReset = () => Number.POSITIVE_INFINITY): Promise<ResettingProxy> {
    const proxy = new ResettingProxy(port, bytesUntilReset);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Resets all connections. */
  reset(): void {
    this.resets += 1;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
