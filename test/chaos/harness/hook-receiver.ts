import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrival } from '../checker/history.js';
import { monotonic } from './monotonic.js';

/** A webhook that records every notification. It refuses some of them until it is set to steady. */
export class HookReceiver implements AsyncDisposable {
  readonly arrivals: Arrival[] = [];
  readonly #server: Server;
  #isSteady = false;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let body = '';
      try {
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
      } catch {
        return;
      }
      const [taskId = '', configId = '', seq] = String(request.headers['x-a2a-notification-id'])
        .split('/')
        .map(decodeURIComponent);
      const acknowledged = this.#isSteady || Math.random() > 0.1;
      this.arrivals.push({ at: monotonic(), taskId, configId, seq: Number(seq), body, acknowledged });
      if (acknowledged) response.writeHead(204).end();
      else if (Math.random() < 0.5) response.writeHead(503).end();
      else response.destroy();
    });
  }

  static async open(): Promise<HookReceiver> {
    const receiver = new HookReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  steady(): void {
    this.#isSteady = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
