import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Time in which the rest of an answer arrives. */
const REST_MS = 20;

/** A TCP proxy between one replica and its database. It can be cut, and can lose the answer of a request. */
export class DatabaseProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #forwards = new Set<() => void>();
  #isCut = false;
  #isHeld = false;
  #wanted: { readonly pattern: RegExp; readonly onLost: () => void } | undefined;

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

  /** Delays the bytes for the database until `release`, even if their sender has closed its connection. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const forward of this.#forwards) forward();
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
      const onLost = () => {
        clearTimeout(timer);
        resolve(true);
      };
      this.#wanted = { pattern, onLost };
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
    let lost: (() => void) | undefined;
    let held: Buffer[] = [];
    const forward = () => {
      for (const chunk of held) target.write(chunk);
      held = [];
      if (client.destroyed) target.end();
    };
    this.#forwards.add(forward);
    for (const socket of [client, target]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => {});
    }
    client.once('close', () => {
      this.#sockets.delete(client);
      // A slow network delivers bytes even if their sender has closed its connection.
      if (held.length === 0) target.destroy();
    });
    target.once('close', () => {
      this.#sockets.delete(target);
      this.#forwards.delete(forward);
      client.destroy();
    });
    client.on('data', (chunk: Buffer) => {
      if (this.#wanted?.pattern.test(chunk.toString('latin1'))) {
        lost = this.#wanted.onLost;
        this.#wanted = undefined;
      }
      if (this.#isHeld) held.push(chunk);
      else target.write(chunk);
    });
    target.on('data', (chunk: Buffer) => {
      if (lost === undefined) return void client.write(chunk);
      const done = lost;
      lost = () => {};
      setTimeout(() => {
        client.destroy();
        done();
      }, REST_MS);
    });
  }
}
