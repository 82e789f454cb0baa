import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { freePort } from '../support/servers/free-port.js';

/** A notification that arrived whole. */
export interface Arrival {
  /** Task and configuration. */
  readonly queue: string;
  readonly seq: number;
  readonly body: string;
  readonly version: '1.0' | '0.3';
  /** True if the receiver answered with a status of 2xx. */
  acknowledged: boolean;
}

/** A receiver that fails at random, stalls, resets connections, and restarts on its port. */
export class UnsteadyReceiver {
  readonly arrivals: Arrival[] = [];
  readonly #random: () => number;
  #server: Server | undefined;
  #port: number | undefined;
  #steady = false;

  constructor(random: () => number) {
    this.#random = random;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  async open(): Promise<void> {
    const server = createServer(async (request, response) => {
      let body = '';
      try {
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
      } catch {
        return;
      }
      const [task, config, seq] = String(request.headers['x-a2a-notification-id']).split('/');
      const version = request.headers['content-type'] === 'application/json' ? '0.3' : '1.0';
      const arrival: Arrival = { queue: `${task}/${config}`, seq: Number(seq), body, version, acknowledged: false };
      this.arrivals.push(arrival);
      this.#answer(arrival, response);
    });
    this.#port ??= await freePort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  /** Drops all connections and listens again. */
  async restart(): Promise<void> {
    await this.close();
    await this.open();
  }

  /** Acknowledges everything from now on. */
  steady(): void {
    this.#steady = true;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()) ?? resolve());
  }

  #answer(arrival: Arrival, response: ServerResponse): void {
    const fate = this.#steady ? 1 : this.#random();
    if (fate < 0.15) response.writeHead(503).end('later');
    else if (fate < 0.25) response.socket?.destroy();
    else if (fate >= 0.3) {
      arrival.acknowledged = true;
      // Some answers never end: their status counts.
      if (fate < 0.35) response.writeHead(200).write('{');
      else response.writeHead(204).end();
    }
    // Otherwise the receiver stalls, and the sender gives up.
  }
}
