import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Time in which the rest of an answer arrives. */
const REST_MS = 20;

/** A TCP proxy between one replica and its database. It can be cut, and can lose the answer of a request. */
export class DatabaseProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #wanted: { readonly pattern: RegExp; readonly lost: () => void } | undefined;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => this.#connect(client, targetPort));
  }

  static async open(targetPort: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isCut = false;
  }

  /**
   * Loses the answer of the next request whose bytes match: the database gets the request and answers it, then the
   * connection breaks. Resolves to true when that has happened, to false if no request came in time.
   */
  loseAnswer(pattern: RegExp, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#wanted = undefined;
        resolve(false);
      }, limitMs);
      const lost = () => {
        clearTimeout(timer);
        resolve(true);
      };
      this.#wanted = { pattern, lost };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #connect(client: Socket, targetPort: number): void {
    if (this.#isCut) return void client.destroy();
    const target = connect({ port: targetPort, host: '127.0.0.1' });
    for (const socket of [client, target]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    let lost: (() => void) | undefined;
    client.on('data', (chunk: Buffer) => {
      if (this.#wanted?.pattern.test(chunk.toString('latin1'))) {
        lost = this.#wanted.lost;
        this.#wanted = undefined;
      }
      if (!target.write(chunk)) {
        client.pause();
        target.once('drain', () => client.resume());
      }
    });
    target.on('data', (chunk: Buffer) => {
      if (lost !== undefined) {
        const done = lost;
        lost = () => {};
        setTimeout(() => {
          client.destroy();
          done();
        }, REST_MS);
        return;
      }
      if (!client.write(chunk)) {
        target.pause();
        client.once('drain', () => target.resume());
      }
    });
  }
}
