import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';

/** A received request. It stays open until `answer`. */
export interface Step {
  readonly path: string;
  readonly body: unknown;
  answer(status?: number): void;
}

/** Receives the steps of agents, and their push notifications. */
export class StepsServer implements AsyncDisposable {
  readonly steps: Step[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async open(): Promise<StepsServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new StepsServer(server);
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits until a path has received `count` requests. Resolves to the last of these. */
  async wait(path: string, count: number): Promise<Step> {
    const findSteps = () => this.steps.filter((step) => step.path === path);
    await vi.waitFor(
      () => findSteps().length >= count || Promise.reject(new Error(`${findSteps().length} of ${count}`)),
      {
        timeout: 30_000,
      },
    );
    return findSteps()[count - 1] as Step;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || 'null') as unknown;
    this.steps.push({
      path: request.url ?? '',
      body,
      answer: (status = 200) => response.writeHead(status).end('go on'),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
