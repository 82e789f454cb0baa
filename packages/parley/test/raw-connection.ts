import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A bare TCP connection to a server on this machine. Sends texts unchanged. */
export class RawConnection implements Disposable {
  readonly socket: Socket;
  #chunks: Buffer[] = [];
  #ended = false;
  #changed: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (data) => this.#change(() => this.#chunks.push(data)));
    for (const event of ['end', 'close']) socket.on(event, () => this.#change(() => (this.#ended = true)));
    socket.on('error', () => {});
  }

  static async open(port: number, text: string | Uint8Array = ''): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    const connection = new RawConnection(socket);
    if (text.length > 0) socket.write(text);
    return connection;
  }

  get received(): string {
    return String(this.bytes);
  }

  get bytes(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves with the received text once it matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.#ended) throw new Error(`the connection ended after: ${this.received}`);
      await this.#change();
    }
    return this.received;
  }

  /** Resolves with the result of `read` on the received bytes, once it has one. */
  async take<T>(read: (bytes: Buffer) => T | undefined): Promise<T> {
    for (;;) {
      const found = read(this.bytes);
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`the connection ended after: ${this.received.slice(0, 2_000)}`);
      await this.#change();
    }
  }

  /** Resolves with the received text once the other side has closed. */
  async untilEnd(): Promise<string> {
    while (!this.#ended) await this.#change();
    return this.received;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #change(apply?: () => void): Promise<void> {
    if (apply === undefined) return new Promise((resolve) => this.#changed.push(resolve));
    apply();
    const waiting = this.#changed;
    this.#changed = [];
    for (const resolve of waiting) resolve();
    return Promise.resolve();
  }
}

/** The text of a request with a body. */
export function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: 'localhost', 'content-length': String(Buffer.byteLength(body)), ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** The text of a request without one. */
export function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;
}
