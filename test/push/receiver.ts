import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received notification. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly text: string;
  /** The parsed body. */
  readonly body: Record<string, unknown>;
}

/** Answers a notification. `count`: notifications so far, this one included. */
export type Answering = (response: ServerResponse, received: Received, count: number) => void;

const OK: Answering = (response) => response.writeHead(204).end();

/** A webhook on a free port of this machine. */
export class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  answering: Answering;
  readonly #server: Server;

  private constructor(answering: Answering) {
    this.answering = answering;
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { headers, url: path = '' } = request;
      const received = { headers, path, text, body: JSON.parse(text) };
      this.received.push(received);
      this.answering(response, received, this.received.length);
      this.#server.emit('received');
    });
  }

  static async open(answering: Answering = OK, port = 0): Promise<Receiver> {
    const receiver = new Receiver(answering);
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Resolves when the received notifications pass a check. */
  async has(wanted: (received: readonly Received[]) => boolean): Promise<readonly Received[]> {
    while (!wanted(this.received)) await once(this.#server, 'received');
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The last part of the id of a notification: the sequence number of its event. */
export function seqOf({ headers }: Received): number {
  return Number(String(headers['x-a2a-notification-id']).split('/').at(-1));
}
