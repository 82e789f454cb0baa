import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A balancer of connections. Each connection goes to the next target that takes it. */
export class Balancer implements AsyncDisposable {
  targets: readonly { readonly port: number }[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next = 0;

  private constructor() {
    this.#server = createServer((client) => this.#forward(client, this.targets.length));
  }

  static async open(targets: readonly { readonly port: number }[]): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.targets = targets;
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve));
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #forward(client: Socket, tries: number): void {
    const target = this.targets[this.#next++ % Math.max(1, this.targets.length)];
    if (tries === 0 || target === undefined) return void client.destroy();
    const server = connect({ port: target.port, host: '127.0.0.1' });
    let isConnected = false;
    this.#sockets.add(client).add(server);
    client.on('error', () => {});
    server.once('connect', () => {
      isConnected = true;
      client.pipe(server).pipe(client);
    });
    server.on('error', () => {});
    server.once('close', () => {
      this.#sockets.delete(server);
      if (isConnected) client.end();
      else this.#forward(client, tries - 1);
    });
    client.once('close', () => {
      this.#sockets.delete(client);
      if (isConnected) server.destroy();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}
